const http = require('node:http');

function send(res, type, body) {
  res.writeHead(200, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}

http.createServer((req, res) => {
  if (req.url === '/hello') {
    send(res, 'text/html', '<h1>HelloWorld</h1>\n');
  } else if (req.url === '/test') {
    setTimeout(() => send(res, 'text/plain', 'OK\n'), 20);
  } else {
    res.writeHead(404).end();
  }
}).listen({ host: '127.0.0.1', port: Number(process.argv[2]), backlog: 4096 });
