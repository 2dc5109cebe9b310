import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

public class Server {
    public static void main(String[] args) throws IOException {
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0]));
        HttpServer server = HttpServer.create(address, 4096);
        server.createContext("/hello", exchange -> send(exchange, "text/html", "<h1>HelloWorld</h1>\n"));
        server.createContext("/test", exchange -> {
            try {
                Thread.sleep(20);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            send(exchange, "text/plain", "OK\n");
        });
        server.setExecutor(Executors.newFixedThreadPool(100));
        server.start();
    }

    static void send(HttpExchange exchange, String type, String body) throws IOException {
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(200, body.length());
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body.getBytes());
        }
    }
}
