"""Servers that answer as Prometheus does, or lie: each answer with the hosts that are taken of it, those that are refused, and what is said where it is none at all."""

import http.server
import json
import threading
import time


def series(host, name="node_memory_MemTotal_bytes", value="1024000", **more):
    return {"metric": {"__name__": name, "instance": host, **more}, "value": [1, value]}


def answer(*found):
    return json.dumps({"status": "success", "data": {"result": [series("good"), *found]}}, ensure_ascii=True).encode()


def raw(text):
    """One more series, as text."""
    return answer().replace(b"}]}}", b"}, " + text.encode() + b"]}}")


def drips(out):
    while True:
        out.write(b" ")
        out.flush()
        time.sleep(0.2)


def drips_headers(out):
    for letter in "X-A: " + "b" * 600:
        out.write(letter.encode())
        out.flush()
        time.sleep(0.2)


NONE = json.dumps({"status": "success", "data": {"result": []}}).encode()
DEEP = "[" * 200_000 + "]" * 200_000
# Answer, taken, refused, or what is said.
LYING = {
    "list": (answer(series("bad", value=["1"])), 1, 1, ""),
    "object": (answer(series("bad", value={"a": 1})), 1, 1, ""),
    "null": (answer({"metric": {"__name__": "node_memory_MemTotal_bytes", "instance": "bad"}, "value": None}), 1, 1, ""),
    "name": (answer(series("bad", name=7)), 1, 1, ""),
    "instance": (answer(series(7), series("also")), 2, 1, ""),
    "nothing": (answer(None, 3, {}), 1, 3, ""),
    "digits": (raw('{"metric": {"__name__": "node_memory_MemTotal_bytes", "instance": "bad"}, "value": [1, "' + "9" * 5000 + '"]}'), 1, 1, ""),
    "number": (raw('{"metric": {"__name__": "node_memory_MemTotal_bytes", "instance": "bad"}, "value": [' + "9" * 5000 + ', ' + "9" * 5000 + ']}'), 1, 1, ""),
    "surrogate": (answer(series("\ud800")), 1, 1, ""),
    "escape": (answer(series("\x1b[2J\u202e")), 1, 1, ""),
    "newline": (answer(series("x\n3 of 3 hosts taken")), 1, 1, ""),
    "value": (answer(series("bad", value="\x1b[2J\nx")), 1, 1, ""),
    "bytes": (answer().replace(b"good", b"g\xff"), 1, 0, ""),
    "deep": (raw(DEEP), None, 0, "nested"),
    "deeper": (raw('{"a":' * 200_000), None, 0, "nested"),
    "error": (json.dumps({"status": "error", "error": "\x1b[2J\u202e\n  fake"}).encode(), None, 0, "says"),
    "text": (b"<html>", None, 0, "cannot be asked"),
    "short": (b"[]", None, 0, "does not answer"),
    "drips": (drips, None, 0, "no whole answer within 2 s"),
    "drips-headers": (drips_headers, None, 0, "no whole answer within 2 s"),
}


class Server:
    """On a loopback address, for one `with`."""

    def __init__(self, body):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                # It has samples of one metric.
                asked = self.rfile.read(int(self.headers["Content-Length"])).decode()
                out = body if "MemTotal" in asked or callable(body) else NONE
                try:
                    if body is drips_headers:
                        self.wfile.write(b"HTTP/1.0 200 OK\r\n")
                    else:
                        self.send_response(200)
                        self.end_headers()
                    if callable(body):
                        body(self.wfile)
                    else:
                        self.wfile.write(out)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
