import java.io.IOException
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import kotlin.concurrent.thread

fun main(args: Array<String>) {
    val listener = ServerSocket(args[0].toInt(), 4096, InetAddress.getByName("127.0.0.1"))
    while (true) {
        val socket = listener.accept()
        thread {
            try {
                socket.use(::serve)
            } catch (e: IOException) {
                // The client has gone.
            }
        }
    }
}

fun serve(socket: Socket) {
    socket.tcpNoDelay = true
    val reader = socket.getInputStream().bufferedReader()
    val out = socket.getOutputStream()
    var keep = true
    while (keep) {
        val first = reader.readLine() ?: return
        keep = first.endsWith("HTTP/1.1")
        while (true) {
            val line = reader.readLine() ?: return
            if (line.isEmpty()) break
            if (line.startsWith("Connection:", ignoreCase = true)) {
                keep = line.substringAfter(':').trim().equals("keep-alive", ignoreCase = true)
            }
        }
        out.write(answer(first.split(' ')[1], keep).toByteArray())
    }
}

fun answer(path: String, keep: Boolean): String = when (path) {
    "/hello" -> page("200 OK", "text/html", "<h1>HelloWorld</h1>\n", keep)
    "/test" -> {
        Thread.sleep(20)
        page("200 OK", "text/plain", "OK\n", keep)
    }
    else -> page("404 Not Found", "text/plain", "not found\n", keep)
}

fun page(status: String, type: String, body: String, keep: Boolean): String {
    val connection = if (keep) "keep-alive" else "close"
    return "HTTP/1.1 $status\r\nContent-Type: $type\r\nContent-Length: ${body.length}\r\n" +
        "Connection: $connection\r\n\r\n$body"
}
