import KymographCore

/// Stands for local output where there is none: a FHIR server gets everything, from the outbox.
final class NoSink: BundleSink {
    func write(_ bytes: ByteView) throws(SinkError) {}
    func flush() throws(SinkError) {}
    func synchronise() throws(SinkError) {}
    func tick(_ now: Instant) throws(SinkError) {}
    func close() throws(SinkError) {}
}
