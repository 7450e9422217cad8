// Lets a stream go when its answer is on its way, rather than when the socket has taken it.
import type { ServerHttp2Stream } from 'node:http2';

/**
 * Destroys a stream, whose request and answer are whole, as soon as nghttp2 has closed it. By itself node:http2 counts it
 * against the client's limit until the last octet has left the socket, and meanwhile refuses the stream that a client of a
 * hundred requests opens in its place.
 */
export function leaveWhenClosed(stream: ServerHttp2Stream): void {
  if (stream.closed) {
    stream.destroy();
    return;
  }
  // Nothing else tells: node:http2 takes its listeners for timeouts away when nghttp2 has closed the stream.
  stream.on('timeout', ignore);
  stream.on('removeListener', onRemoved);
}

function onRemoved(this: ServerHttp2Stream, name: string | symbol): void {
  if (name === 'timeout') process.nextTick(destroy, this);
}

function destroy(stream: ServerHttp2Stream): void {
  stream.destroy();
}

function ignore(): void {
  // There is no timeout: the sweep keeps the time.
}
