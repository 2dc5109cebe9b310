import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

public class Server {
    public static void main(String[] args) throws IOException {
        var loopback = InetAddress.getByName("127.0.0.1");
        try (var listener = new ServerSocket(Integer.parseInt(args[0]), 4096, loopback)) {
            while (true) {
                Socket socket = listener.accept();
                new Thread(() -> serve(socket)).start();
            }
        }
    }

    static void serve(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            var in = new BufferedReader(new InputStreamReader(socket.getInputStream()));
            var out = socket.getOutputStream();
            String first;
            boolean keep = true;
            while (keep && (first = in.readLine()) != null) {
                keep = first.endsWith("HTTP/1.1");
                for (String line = in.readLine(); line != null && !line.isEmpty(); line = in.readLine()) {
                    if (line.regionMatches(true, 0, "Connection:", 0, 11)) {
                        keep = line.substring(11).strip().equalsIgnoreCase("keep-alive");
                    }
                }
                out.write(answer(first.split(" ")[1], keep).getBytes());
            }
        } catch (IOException | InterruptedException e) {
            // The client has gone.
        }
    }

    static String answer(String path, boolean keep) throws InterruptedException {
        switch (path) {
            case "/hello":
                return page("200 OK", "text/html", "<h1>HelloWorld</h1>\n", keep);
            case "/test":
                Thread.sleep(20);
                return page("200 OK", "text/plain", "OK\n", keep);
            default:
                return page("404 Not Found", "text/plain", "not found\n", keep);
        }
    }

    static String page(String status, String type, String body, boolean keep) {
        return "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + body.length()
            + "\r\nConnection: " + (keep ? "keep-alive" : "close") + "\r\n\r\n" + body;
    }
}
