// ASP.NET Core's minimal API on Kestrel.
var builder = WebApplication.CreateSlimBuilder();
builder.Logging.ClearProviders();
builder.WebHost.ConfigureKestrel(kestrel => kestrel.Listen(System.Net.IPAddress.Loopback, int.Parse(args[0])));
var app = builder.Build();
app.MapGet("/hello", () => Results.Text("<h1>HelloWorld</h1>\n", "text/html"));
app.MapGet("/test", async () =>
{
    await Task.Delay(20);
    return Results.Text("OK\n", "text/plain");
});
app.Run();
