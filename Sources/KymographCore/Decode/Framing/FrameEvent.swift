/// What ``FrameDecoder`` found. Views are valid until its next call.
package enum FrameEvent {
    /// A payload, empty only if the framing keeps those, with ``ByteView/padding`` readable bytes after it.
    case frame(ByteView)
    /// Bytes that are no payload, the first of them up to the cap; what follows is read.
    case rejected(Rejection, ByteView)
    /// Bytes after which no border can be found any more: the stream is of no use.
    case broken(Rejection, ByteView)
}
