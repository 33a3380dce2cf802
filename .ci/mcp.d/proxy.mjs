// A proxy that adds the bearer token to every request and changes nothing else:
// the conformance suite cannot send one. It passes Host and Origin on as they
// came, each piece of a stream at once, and a cut in either direction.
//
//   node proxy.mjs URL TOKEN   prints its own address, serves until it is ended
import http from 'node:http';

const [target, token] = process.argv.slice(2);
const { hostname, port } = new URL(target);

const proxy = http.createServer((request, response) => {
  const headers = request.rawHeaders.concat('Authorization', `Bearer ${token}`);
  const onward = http.request({ hostname, port, method: request.method, path: request.url, headers, agent: false, setHost: false });
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders);
    response.flushHeaders();
    answer.pipe(response);
    answer.on('error', () => response.destroy());
    answer.on('close', () => { if (!answer.complete) response.destroy(); });
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
});
proxy.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${proxy.address().port}/mcp`));
