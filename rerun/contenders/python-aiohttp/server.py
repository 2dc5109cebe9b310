import asyncio
import sys

from aiohttp import web


async def hello(request):
    return web.Response(text="<h1>HelloWorld</h1>\n", content_type="text/html")


async def test(request):
    await asyncio.sleep(0.02)
    return web.Response(text="OK\n")


app = web.Application()
app.add_routes([web.get("/hello", hello), web.get("/test", test)])
web.run_app(app, host="127.0.0.1", port=int(sys.argv[1]), backlog=4096, access_log=None, print=None)
