# SPDX-License-Identifier: Apache-2.0
"""Ends TLS in front of PORT with CERTIFICATE and KEY, and tells who asked, as a proxy does.
Prints its own port. Each connection is its own thread; each request its own connection onwards."""
import http.client
import ssl
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, certificate, key = int(sys.argv[1]), sys.argv[2], sys.argv[3]


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def pass_on(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {
            name: value for name, value in self.headers.items()
            if name.lower() not in ("host", "connection", "content-length")
        }
        headers["Host"] = "127.0.0.1"
        headers["X-Forwarded-For"] = self.client_address[0].replace("127.0.0.1", "192.0.2.7")
        headers["X-Forwarded-Proto"] = "https"
        headers["X-Forwarded-Host"] = self.headers.get("Host", "")
        onward = http.client.HTTPConnection("127.0.0.1", port, timeout=70)
        try:
            onward.request(self.command, self.path, body or None, headers)
            answer = onward.getresponse()
            bytes_ = answer.read()
        finally:
            onward.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "content-length", "transfer-encoding", "server"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(bytes_)))
        self.end_headers()
        self.wfile.write(bytes_)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = pass_on

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print(f"proxy on {server.server_address[1]}", flush=True)
server.serve_forever()
