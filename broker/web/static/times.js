// Times in the reader's own zone: the server writes them in its own, which a new machine may have wrong.

const two = (number) => String(number).padStart(2, "0");

export function clock(moment, seconds) {
  const text = `${two(moment.getHours())}:${two(moment.getMinutes())}`;
  return seconds ? `${text}:${two(moment.getSeconds())}` : text;
}

/** A time of another day than today has that day before it: an event and its set-up last longer than one. */
export function putTimesIntoZone(part) {
  const { lang } = document.documentElement;
  const today = new Date().toDateString();
  for (const time of part.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    const text = clock(moment, /:\d\d:/.test(time.textContent));
    const day = moment.toLocaleDateString(lang, { day: "numeric", month: "short" });
    time.textContent = moment.toDateString() === today ? text : `${day} ${text}`;
    time.title = moment.toLocaleString(lang);
  }
}

putTimesIntoZone(document);
