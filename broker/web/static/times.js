// Convert times to the reader's time zone: the server uses its own, which may be wrong on a new machine.

const two = (number) => String(number).padStart(2, "0");

/** Format a time, preceded by the date if it is not today's: an event and its set-up take several days. */
export function clock(moment, seconds) {
  const time = [moment.getHours(), moment.getMinutes(), ...(seconds ? [moment.getSeconds()] : [])].map(two).join(":");
  if (moment.toDateString() === new Date().toDateString()) return time;
  const day = moment.toLocaleDateString(document.documentElement.lang, { day: "numeric", month: "short" });
  return `${day} ${time}`;
}

export function putTimesIntoZone(part) {
  for (const time of part.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.dateTime);
    time.textContent = clock(moment, /:\d\d:/.test(time.textContent));
    time.title = moment.toLocaleString(document.documentElement.lang);
  }
}

let today = new Date().toDateString();
putTimesIntoZone(document);
setInterval(() => {
  if (today === (today = new Date().toDateString())) return;
  putTimesIntoZone(document); // for pages left open past midnight
}, 1_000);
