// Times in the reader's own zone: the server writes them in its own, which a new machine may have wrong.

const two = (number) => String(number).padStart(2, "0");

/** A time of another day than today has that day before it: an event and its set-up last longer than one. */
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
  putTimesIntoZone(document); // a page that is left open over midnight
}, 1_000);
