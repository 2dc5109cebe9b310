// ASP.NET Core's minimal API on Kestrel.
using System.Diagnostics;

var builder = WebApplication.CreateSlimBuilder();
builder.Logging.ClearProviders();
builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(System.Net.IPAddress.Loopback, int.Parse(args[0])));
var app = builder.Build();
app.MapGet("/hello", () => Results.Text("<h1>HelloWorld</h1>\n", "text/html"));
app.MapGet("/test", async () =>
{
    // Task.Delay counts in ticks of a coarse clock, and may end some milliseconds early.
    var clock = Stopwatch.StartNew();
    await Task.Delay(20);
    while (clock.Elapsed.TotalMilliseconds < 20) await Task.Delay(1);
    return Results.Text("OK\n", "text/plain");
});
app.Run();
