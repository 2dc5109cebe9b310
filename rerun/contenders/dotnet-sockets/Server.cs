// HTTP by hand over TCP: an async task a connection.
using System;
using System.Diagnostics;
using System.IO;
using System.Net;
using System.Net.Sockets;
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
        var listener = new TcpListener(IPAddress.Loopback, port);
        listener.Start(4096);
        while (true)
        {
            var client = await listener.AcceptTcpClientAsync();
            _ = Serve(client);
        }
    }

    static async Task Serve(TcpClient client)
    {
        try
        {
            using (client)
            {
                client.NoDelay = true;
                var stream = client.GetStream();
                var reader = new StreamReader(stream, Encoding.ASCII);
                for (var keep = true; keep;)
                {
                    var first = await reader.ReadLineAsync();
                    if (first == null) return;
                    keep = first.EndsWith("HTTP/1.1", StringComparison.Ordinal);
                    while (true)
                    {
                        var line = await reader.ReadLineAsync();
                        if (line == null) return;
                        if (line.Length == 0) break;
                        if (line.StartsWith("Connection:", StringComparison.OrdinalIgnoreCase))
                            keep = line.Substring(11).Trim().Equals("keep-alive", StringComparison.OrdinalIgnoreCase);
                    }
                    var answer = Encoding.ASCII.GetBytes(await Answer(first.Split(' ')[1], keep));
                    await stream.WriteAsync(answer, 0, answer.Length);
                }
            }
        }
        catch (IOException)
        {
            // The client has gone.
        }
    }

    static async Task<string> Answer(string path, bool keep)
    {
        switch (path)
        {
            case "/hello":
                return Page("200 OK", "text/html", "<h1>HelloWorld</h1>\n", keep);
            case "/test":
                await Wait(20);
                return Page("200 OK", "text/plain", "OK\n", keep);
            default:
                return Page("404 Not Found", "text/plain", "not found\n", keep);
        }
    }

    static string Page(string status, string type, string body, bool keep)
    {
        return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + body.Length
            + "\r\nConnection: " + (keep ? "keep-alive" : "close") + "\r\n\r\n" + body;
    }

    // Task.Delay counts in ticks of a coarse clock, and may end some milliseconds early.
    static async Task Wait(int milliseconds)
    {
        var clock = Stopwatch.StartNew();
        await Task.Delay(milliseconds);
        while (clock.Elapsed.TotalMilliseconds < milliseconds) await Task.Delay(1);
    }
}
