<?php
echo "<h1>HelloWorld</h1>\n";
