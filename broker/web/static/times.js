// Times in the reader's own zone: the server writes them in its own, which a new machine may have wrong.

const two = (number) => String(number).padStart(2, "0");

export function clock(moment, seconds) {
  const text = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  return seconds ? `${text}:${two(moment.getSeconds())}` : text;
}

export function putTimesIntoZone(part) {
  for (const time of part.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    time.textContent = clock(moment, time.textContent.trim().length > 5);
    time.title = moment.toLocaleString(document.documentElement.lang);
  }
}

putTimesIntoZone(document);
