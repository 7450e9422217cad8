// An instance of the example: answers with its name, and lets what is under way end when it is stopped.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  response.end(`${process.env.NAME}: ${request.url}\n`);
});
server.listen(9001);
process.on('SIGTERM', () => server.close());
