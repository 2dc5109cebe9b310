import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.PathHandler;
import io.undertow.util.Headers;
import io.undertow.util.SameThreadExecutor;
import java.util.concurrent.TimeUnit;

public class Server {
    public static void main(String[] args) {
        var paths = new PathHandler()
            .addExactPath("/hello", exchange -> send(exchange, "text/html", "<h1>HelloWorld</h1>\n"))
            .addExactPath("/test", exchange -> exchange.dispatch(SameThreadExecutor.INSTANCE, () ->
                exchange.getIoThread().executeAfter(
                    () -> send(exchange, "text/plain", "OK\n"), 20, TimeUnit.MILLISECONDS)));
        Undertow.builder()
            .addHttpListener(Integer.parseInt(args[0]), "127.0.0.1")
            .setHandler(paths)
            .build()
            .start();
    }

    static void send(HttpServerExchange exchange, String type, String body) {
        exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, type);
        exchange.getResponseSender().send(body);
    }
}
