// HTTP by hand over TCP: a goroutine a connection.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"
)

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn)
	}
}

func serve(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for {
		first, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		keep := strings.HasSuffix(first, "HTTP/1.1\r\n")
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				return
			}
			if line == "\r\n" {
				break
			}
			name, value, _ := strings.Cut(line, ":")
			if strings.EqualFold(name, "Connection") {
				keep = strings.EqualFold(strings.TrimSpace(value), "keep-alive")
			}
		}
		status, kind, body := "404 Not Found", "text/plain", "not found\n"
		switch path := strings.Fields(first); {
		case len(path) < 2:
			return
		case path[1] == "/hello":
			status, kind, body = "200 OK", "text/html", "<h1>HelloWorld</h1>\n"
		case path[1] == "/test":
			time.Sleep(20 * time.Millisecond)
			status, kind, body = "200 OK", "text/plain", "OK\n"
		}
		connection := "close"
		if keep {
			connection = "keep-alive"
		}
		_, err = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: %s\r\n\r\n%s",
			status, kind, len(body), connection, body)
		if err != nil || !keep {
			return
		}
	}
}
