// HttpListener: an async task a request.
using System.Diagnostics;
using System.Net;
using System.Text;
using System.Threading.Tasks;

static class Server
{
    static void Main(string[] args)
    {
        Run(int.Parse(args[0])).GetAwaiter().GetResult();
    }

    static async Task Run(int port)
    {
        var listener = new HttpListener();
        listener.Prefixes.Add("http://127.0.0.1:" + port + "/");
        listener.Start();
        while (true)
        {
            var context = await listener.GetContextAsync();
            _ = Answer(context);
        }
    }

    static async Task Answer(HttpListenerContext context)
    {
        try
        {
            switch (context.Request.Url.AbsolutePath)
            {
                case "/hello":
                    await Send(context.Response, "text/html", "<h1>HelloWorld</h1>\n");
                    break;
                case "/test":
                    await Wait(20);
                    await Send(context.Response, "text/plain", "OK\n");
                    break;
                default:
                    context.Response.StatusCode = 404;
                    context.Response.Close();
                    break;
            }
        }
        catch (HttpListenerException)
        {
            // The client has gone.
        }
    }

    static async Task Send(HttpListenerResponse response, string type, string body)
    {
        var bytes = Encoding.ASCII.GetBytes(body);
        response.ContentType = type;
        response.ContentLength64 = bytes.Length;
        await response.OutputStream.WriteAsync(bytes, 0, bytes.Length);
        response.Close();
    }

    // Task.Delay counts in ticks of a coarse clock, and may end some milliseconds early.
    static async Task Wait(int milliseconds)
    {
        var clock = Stopwatch.StartNew();
        await Task.Delay(milliseconds);
        while (clock.Elapsed.TotalMilliseconds < milliseconds) await Task.Delay(1);
    }
}
