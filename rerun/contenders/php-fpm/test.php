<?php
header('Content-Type: text/plain');
usleep(20000);
echo "OK\n";
