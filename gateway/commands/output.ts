// Standard output of commands that print documents: a reader that goes away early is no failure.

let isWatched = false;

/** Writes the text; resolves with false when nobody reads it any more. Rejects for other errors. */
export function write(text: string): Promise<boolean> {
  if (!isWatched) process.stdout.on('error', ignoreGoneReader);
  isWatched = true;
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error === undefined || error === null) resolve(true);
      else if (isGone(error)) resolve(false);
      else reject(error);
    });
  });
}

/** Every failed write is an event as well, which would end the process. */
function ignoreGoneReader(error: Error): void {
  if (!isGone(error)) throw error;
}

function isGone(error: Error): boolean {
  return 'code' in error && (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED');
}
