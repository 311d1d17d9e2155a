import Kymograph
import KymographCore

extension Lane {
    /// Takes what the kernel holds by now, and ends.
    func collect() throws -> RecordingConsumer {
        stop()
        var consumer = RecordingConsumer()
        _ = try run(&consumer)
        return consumer
    }

    /// Reads until the sources end.
    func collectToEnd(knowsLines: Bool = false) throws -> RecordingConsumer {
        var consumer = RecordingConsumer()
        consumer.knowsLines = knowsLines
        _ = try run(&consumer)
        return consumer
    }
}
