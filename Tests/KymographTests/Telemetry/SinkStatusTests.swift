@testable import Kymograph
import Testing

/// What `kymo status` says of a sink.
@Suite struct SinkStatusTests {
    /// A server that has not answered yet has no verdict, and no blank line in place of it.
    @Test func aServerThatHasNotAnswered() {
        var status = SinkStatus(name: "server", settledThrough: 0, waiting: 2)
        status.delivery = DeliverySummary()
        let lines = status.lines { _ in "1 s" }
        #expect(
            lines == [
                "sink server: settled through 0, 2 wait",
                "  circuit closed, in flight 0, delivered 0, undeliverable 0, retries 0",
            ])
        status.delivery?.verdict = "http://127.0.0.1:8080: FHIR 4.0.1"
        #expect(status.lines { _ in "1 s" }.dropFirst().first == "  http://127.0.0.1:8080: FHIR 4.0.1")
    }
}
