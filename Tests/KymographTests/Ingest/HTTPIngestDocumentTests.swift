@testable import Kymograph
@testable import KymographCore
import KymographTestKit
import Testing

/// Which parts of a body are one document: what one of them takes back, a later one brings again.
@Suite struct HTTPIngestDocumentTests {
    /// Notes what it is given, in order.
    private struct NotingConsumer: PayloadConsumer {
        private(set) var text = ""

        mutating func line(_ bytes: ByteView, source: Int, received: Instant) { text += bytes.string }
        mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) { text += bytes.string }
        mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {}
        mutating func batchEnd() {}
        mutating func beginParts() { text += "<" }
        mutating func endParts() { text += ">" }
        mutating func endItem() -> ReadingCount? { ReadingCount(taken: 1, number: 0) }
    }

    private func taken(_ body: String, _ answer: HTTPIngestContent.Answer) throws -> String {
        var consumer = NotingConsumer()
        let progress = StreamProgress(
            number: 0, lineCap: 1_024, acknowledging: .byProtocol, isFresh: true, hasOpenEnds: false)
        var intake = StreamIntake(progress)
        var report = HTTPIngestReport(answer)
        let bytes = PaddedBytes(copying: Array(body.utf8))
        try report.handOn(bytes.view, .documents, &intake, to: &consumer)
        return consumer.text
    }

    /// An array is one document. Catches: documents that follow each other taken as one, so that a retraction in one
    /// of them lets in what another one brings.
    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":1}"#), (#"{"a":1}{"a":2}"#, #"{"a":1}{"a":2}"#),
        (#"[{"a":1},{"a":2}]"#, #"<{"a":1}{"a":2}>"#), (" [ ] ", "<>"),
        (#"[{"a":1}] [{"a":2}]"#, #"<{"a":1}><{"a":2}>"#), (#"[{"a":1}][{"a":2}]"#, #"<{"a":1}><{"a":2}>"#),
        (#"{"a":1} [{"a":2},{"a":3}]{"a":4}{"a":5}"#, #"{"a":1}<{"a":2}{"a":3}>{"a":4}{"a":5}"#),
    ])
    func anArrayIsOne(body: String, parts: String) throws {
        let reported = try taken(body, .report)
        #expect(reported == parts)
        let byItem = try taken(body, .items)
        #expect(byItem == parts)
    }
}
