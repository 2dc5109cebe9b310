const answer = (type: string, body: string) =>
  new Response(body, { headers: { "content-type": type } });

Deno.serve({ hostname: "127.0.0.1", port: Number(Deno.args[0]) }, async (request) => {
  switch (new URL(request.url).pathname) {
    case "/hello":
      return answer("text/html", "<h1>HelloWorld</h1>\n");
    case "/test":
      await new Promise((resolve) => setTimeout(resolve, 20));
      return answer("text/plain", "OK\n");
    default:
      return new Response(null, { status: 404 });
  }
});
