/// Addresses, sockets and serial lines.
extension Mistake {
    static let sockets: [Mistake] = [
        Mistake(
            "UDP port in use", ["run", "--udp", "127.0.0.1:{port}", "--ephemeral"], needs: [.udpPort], 71,
            "cannot listen to udp 127.0.0.1:{port}: Address already in use", at: "udp 127.0.0.1:{port}",
            "in use by another process or source: stop that one or"),
        Mistake(
            "TCP port in use", ["run", "--tcp", "127.0.0.1:{port}", "--ephemeral"], needs: [.tcpPort], 71,
            "cannot listen to tcp 127.0.0.1:{port}: Address already in use", at: "tcp 127.0.0.1:{port}",
            "in use by another process or source: stop that one or"),
        Mistake(
            "privileged port", ["run", "--udp", "127.0.0.1:80", "--ephemeral"], needs: [.ordinaryUser], 77,
            "cannot listen to udp 127.0.0.1:80: Permission denied", at: "udp 127.0.0.1:80",
            "choose another address (ports below 1024 need"),
        Mistake(
            "address of another machine", ["run", "--udp", "192.0.2.1:5757", "--ephemeral"], 71,
            "cannot listen to udp 192.0.2.1:5757: Cannot assign requested address", at: "udp 192.0.2.1:5757",
            "this machine has no such address: use one of its own, or"),
        Mistake(
            "socket path too long",
            [
                "run", "--unix",
                "./xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.sock",
                "--ephemeral",
            ], 78, "the path has 127 bytes, and a Unix socket's may have 107", at: "--unix",
            "choose a shorter one, for instance in /run"),
        Mistake(
            "socket in a missing folder", ["run", "--unix", "./nowhere/a.sock", "--ephemeral"], 71,
            "cannot listen to the Unix socket ./nowhere/a.sock: No such file or", at: "./nowhere/a.sock",
            "create the directory first"),
        Mistake(
            "file where the socket is to be", ["run", "--unix", "./f", "--ephemeral"], files: ["f": "x"], 71,
            "'./f' is not an address to listen to: it exists and is not a socket", at: "./f'",
            "choose another path, or remove it yourself"),
        Mistake(
            "folder where the socket is to be", ["run", "--unix", "./d", "--ephemeral"], files: ["d/a": "x"], 71,
            "'./d' is not an address to listen to: it exists and is not a socket", at: "./d'",
            "choose another path, or remove it yourself"),
        Mistake(
            "socket in a folder of another user", ["run", "--unix", "./d/a.sock", "--ephemeral"], files: ["d/a": "x"],
            locked: ["d"], needs: [.ordinaryUser], 77, "cannot listen to the Unix socket ./d/a.sock: Permission denied",
            at: "./d/a.sock", "choose another address (ports below 1024 need"),
        Mistake(
            "serial line that is a file", ["run", "--serial", "./f:115200", "--ephemeral"], files: ["f": "x"], 71,
            "cannot open serial ./f: Inappropriate ioctl for device", at: "./f", "it is not a serial line"),
        Mistake(
            "destination that has no address", ["simulate", "--udp", "nowhere.invalid:5757", "--devices", "1"], 69,
            "no such host", at: "udp nowhere.invalid:5757", "check its name, and the name service of this machine"),
        Mistake(
            "nothing receives TCP", ["simulate", "--tcp", "127.0.0.1:{port}", "--devices", "1"], needs: [.freePort], 69,
            "tcp 127.0.0.1:{port}: connection refused", at: "tcp 127.0.0.1:{port}",
            "nothing listens there, start 'kymo run' first"),
        Mistake(
            "nothing receives at a socket", ["simulate", "--unix", "./a.sock", "--devices", "1"], 69,
            "unix ./a.sock: no such file or directory", at: "./a.sock", "nothing listens there, start 'kymo run' first"),
    ]
}
