function hello(r) {
    r.headersOut['Content-Type'] = 'text/html';
    r.return(200, '<h1>HelloWorld</h1>\n');
}

function test(r) {
    setTimeout(function () {
        r.headersOut['Content-Type'] = 'text/plain';
        r.return(200, 'OK\n');
    }, 20);
}

export default { hello, test };
