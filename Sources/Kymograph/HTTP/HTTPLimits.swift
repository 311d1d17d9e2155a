/// What a listener for HTTP grants each client. Sizes are in bytes.
struct HTTPLimits: Sendable {
    /// Most bytes of a head: request line and header.
    var headBytes = 16_384
    /// Most fields of a header, and of a trailer.
    var fields = 100
    /// Most bytes of a body.
    var bodyBytes = 65_536
    /// Longest time from the first byte of a head to its last; on a new connection, from its beginning.
    var headTime = Duration.seconds(10)
    /// Longest time from the end of a head to the end of the body.
    var bodyTime = Duration.seconds(60)
    /// Longest time between two requests of a connection.
    var idleTime = Duration.seconds(120)
    /// Longest time that a client takes to read what it has asked for.
    var replyTime = Duration.seconds(30)
    /// Longest time until another thread has made an answer, or the next bytes of a stream.
    var laterTime = Duration.seconds(60)
    /// Most clients at a time. One more takes the place of the one that has been waited for longest.
    var clients = 64
}
