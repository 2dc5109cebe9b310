%% gen_tcp with its own packets for HTTP heads: a process a connection.
-module(server).
-export([start/1]).

start([Port]) ->
    {ok, Listener} = gen_tcp:listen(list_to_integer(Port),
        [binary, {ip, {127, 0, 0, 1}}, {packet, http_bin}, {active, false}, {nodelay, true},
         {reuseaddr, true}, {backlog, 4096}]),
    accept(Listener).

accept(Listener) ->
    {ok, Socket} = gen_tcp:accept(Listener),
    Pid = spawn(fun() -> receive go -> serve(Socket) end end),
    ok = gen_tcp:controlling_process(Socket, Pid),
    Pid ! go,
    accept(Listener).

serve(Socket) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, {http_request, _, {abs_path, Path}, Version}} ->
            case headers(Socket, Version =:= {1, 1}) of
                closed -> gen_tcp:close(Socket);
                Keep ->
                    case {gen_tcp:send(Socket, answer(Path, Keep)), Keep} of
                        {ok, true} -> serve(Socket);
                        _ -> gen_tcp:close(Socket)
                    end
            end;
        _ -> gen_tcp:close(Socket)
    end.

%% Reads to the end of the head; whether the connection is to be kept.
headers(Socket, Keep) ->
    case gen_tcp:recv(Socket, 0) of
        {ok, http_eoh} -> Keep;
        {ok, {http_header, _, 'Connection', _, Value}} ->
            headers(Socket, string:equal(Value, <<"keep-alive">>, true));
        {ok, {http_header, _, _, _, _}} -> headers(Socket, Keep);
        _ -> closed
    end.

answer(<<"/hello">>, Keep) ->
    page(<<"200 OK">>, <<"text/html">>, <<"<h1>HelloWorld</h1>\n">>, Keep);
answer(<<"/test">>, Keep) ->
    timer:sleep(20),
    page(<<"200 OK">>, <<"text/plain">>, <<"OK\n">>, Keep);
answer(_, Keep) ->
    page(<<"404 Not Found">>, <<"text/plain">>, <<"not found\n">>, Keep).

page(Status, Type, Body, Keep) ->
    Connection = case Keep of true -> <<"keep-alive">>; false -> <<"close">> end,
    [<<"HTTP/1.1 ">>, Status, <<"\r\nContent-Type: ">>, Type,
     <<"\r\nContent-Length: ">>, integer_to_binary(byte_size(Body)),
     <<"\r\nConnection: ">>, Connection, <<"\r\n\r\n">>, Body].
