import Glibc
import KymographCore

/// The system calls of ``ReadingSender``: the only file of this module that handles pointers.
enum SendingSocket {
    /// A connected UDP or TCP socket that waits `patience` seconds at most, nil for ever; `name` is for messages.
    static func network(
        host: String, port: UInt16, _ type: __socket_type, _ patience: Int?, name: String
    ) throws(SendingError) -> Int32 {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = Int32(type.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        // Safe: all arguments live through the call; `found` is freed below.
        let code = unsafe getaddrinfo(host, String(port), &hints, &found)
        guard code == 0, let first = unsafe found else {
            throw SendingError(
                description: "\(name): no such host; check its name, and the name service of this machine")
        }
        defer { unsafe freeaddrinfo(first) }
        let descriptor = unsafe socket(first.pointee.ai_family, first.pointee.ai_socktype, 0)
        limit(descriptor, patience)
        // Safe: getaddrinfo filled address and length.
        let connected = unsafe connect(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen)
        guard descriptor >= 0, connected == 0 else {
            throw failure(name, closing: descriptor)
        }
        return descriptor
    }

    /// A connected Unix socket of a type that waits as ``network(host:port:_:_:name:)``; `name` is for messages.
    static func unix(
        path: String, _ type: __socket_type, _ patience: Int?, name: String
    ) throws(SendingError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let room = MemoryLayout.size(ofValue: address.sun_path)
        guard bytes.count < room else {
            throw SendingError(description: "\(name): the path is longer than \(room - 1) bytes; use a shorter one")
        }
        // Safe: bytes.count < size of sun_path, which is zeroed behind.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, Int32(type.rawValue), 0)
        limit(descriptor, patience)
        // Safe: the address outlives the call and its length is its own.
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { rebound in
                unsafe connect(descriptor, rebound, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard descriptor >= 0, connected == 0 else { throw failure(name, closing: descriptor) }
        return descriptor
    }

    /// Sends one datagram, waiting for room; false with `errno` set when it failed.
    static func sendDatagram(_ datagram: ByteView, to descriptor: Int32) -> Bool {
        // Safe: the view is readable for its length.
        let bytes = unsafe datagram.unsafeBuffer
        while true {
            let sent = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            if sent >= 0 { return true }
            if errno != EINTR { return false }
        }
    }

    /// Writes some of `bytes`; the number written, or -1 with `errno` set.
    static func write(_ bytes: ByteView, to descriptor: Int32) -> Int {
        let buffer = unsafe bytes.unsafeBuffer
        if descriptor == STDOUT_FILENO {
            // Safe: the view is readable for its length.
            return unsafe Glibc.write(descriptor, buffer.baseAddress, buffer.count)
        }
        // Safe: as above; without the flag a receiver that goes away would end the process by SIGPIPE.
        return unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
    }

    /// Has connecting and sending fail with EAGAIN or EINPROGRESS after `patience` seconds (socket(7), SO_SNDTIMEO).
    private static func limit(_ descriptor: Int32, _ patience: Int?) {
        guard let patience else { return }
        var time = timeval(tv_sec: patience, tv_usec: 0)
        // Safe: the time outlives the call, which is told its size.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    /// The system's words for an error number.
    static func reason(_ code: Int32) -> String {
        if code == EAGAIN || code == EINPROGRESS { return "it takes nothing at present" }
        // Safe: strerror returns a valid C string; this tool sends from one thread.
        return unsafe String(cString: strerror(code)).lowercased()
    }

    private static func failure(_ name: String, closing descriptor: Int32) -> SendingError {
        let code = errno
        if descriptor >= 0 { close(descriptor) }
        let missing = code == ENOENT || code == ECONNREFUSED
        let advice = missing ? "; nothing listens there, start 'kymo run' first" : ""
        return SendingError(description: "\(name): \(reason(code))\(advice)")
    }
}
