import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

public class Server {
    static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(1);

    public static void main(String[] args) throws Exception {
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(args[0]));
        var listener = AsynchronousServerSocketChannel.open().bind(address, 4096);
        listener.accept(null, new CompletionHandler<AsynchronousSocketChannel, Void>() {
            public void completed(AsynchronousSocketChannel channel, Void none) {
                listener.accept(null, this);
                new Connection(channel).read();
            }

            public void failed(Throwable error, Void none) {
                listener.accept(null, this);
            }
        });
        Thread.currentThread().join();
    }

    /** One connection: it reads, answers, and reads again. */
    static class Connection implements CompletionHandler<Integer, Boolean> {
        final AsynchronousSocketChannel channel;
        final ByteBuffer in = ByteBuffer.allocate(8192);
        ByteBuffer out = ByteBuffer.allocate(0);
        boolean keep = true;

        Connection(AsynchronousSocketChannel channel) {
            this.channel = channel;
            try {
                channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            } catch (IOException e) {
                close();
            }
        }

        void read() {
            channel.read(in, true, this);
        }

        public void completed(Integer count, Boolean reading) {
            if (count < 0) {
                close();
            } else if (reading) {
                next();
            } else if (out.hasRemaining()) {
                channel.write(out, false, this);
            } else if (keep) {
                next();
            } else {
                close();
            }
        }

        public void failed(Throwable error, Boolean reading) {
            close();
        }

        /** Answers the first request in the buffer, if it is whole. */
        void next() {
            String text = new String(in.array(), 0, in.position(), StandardCharsets.ISO_8859_1);
            int end = text.indexOf("\r\n\r\n");
            if (end < 0) {
                if (in.hasRemaining()) read(); else close();
                return;
            }
            in.flip().position(end + 4);
            in.compact();
            String[] lines = text.substring(0, end).split("\r\n");
            keep = lines[0].endsWith("HTTP/1.1");
            for (String line : lines) {
                if (line.regionMatches(true, 0, "Connection:", 0, 11)) {
                    keep = line.substring(11).strip().equalsIgnoreCase("keep-alive");
                }
            }
            switch (lines[0].split(" ")[1]) {
                case "/hello":
                    write("200 OK", "text/html", "<h1>HelloWorld</h1>\n");
                    break;
                case "/test":
                    TIMER.schedule(() -> write("200 OK", "text/plain", "OK\n"), 20, TimeUnit.MILLISECONDS);
                    break;
                default:
                    write("404 Not Found", "text/plain", "not found\n");
            }
        }

        void write(String status, String type, String body) {
            String text = "HTTP/1.1 " + status + "\r\nContent-Type: " + type + "\r\nContent-Length: " + body.length()
                + "\r\nConnection: " + (keep ? "keep-alive" : "close") + "\r\n\r\n" + body;
            out = ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1));
            channel.write(out, false, this);
        }

        void close() {
            try {
                channel.close();
            } catch (IOException e) {
                // It is gone already.
            }
        }
    }
}
