@testable import Kymograph
import KymographCore
import Testing

/// Payloads that never end: whatever the framing, no more is kept of one than a payload may have.
@Suite struct EndlessStreamTests {
    struct Case: CustomTestStringConvertible {
        var framing: String
        var beginning: String
        /// What is sent again and again.
        var unit: String

        var testDescription: String { "\(framing): \(beginning)\(unit.prefix(12))…" }
    }

    static let cases = [
        Case(framing: "lines", beginning: "{", unit: "x"), Case(framing: "json", beginning: "{\"a\":\"", unit: "x"),
        Case(framing: "json", beginning: "{\"a\":", unit: "["), Case(framing: "cobs", beginning: "", unit: "x"),
        Case(framing: "length,u32le", beginning: "\u{7F}\u{7F}\u{7F}\u{7F}", unit: "x"),
        Case(framing: "hl7v2", beginning: "MSH|", unit: "x\r"), Case(framing: "capture", beginning: "", unit: "0 "),
        Case(framing: "csv", beginning: "a,b\n\"", unit: "x"), Case(framing: "csv", beginning: "a,b\n", unit: ","),
        Case(framing: "csv,trim", beginning: "a,b\n", unit: " x"),
        Case(framing: "apple-health,patient=p", beginning: "<HealthData><Record type='", unit: "x"),
        Case(framing: "apple-health,patient=p", beginning: "<HealthData><Record type='t'>", unit: "<a>"),
        Case(
            framing: "apple-health,patient=p", beginning: "<HealthData><Record type='t'>",
            unit: "<MetadataEntry key='k' value='0123456789'/>"),
        Case(
            framing: "apple-health,patient=p", beginning: "<HealthData><Workout type='t'>",
            unit: "<WorkoutStatistics sum='0123456789'/>"),
    ]

    private struct Consumer: PayloadConsumer {
        mutating func line(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func datagram(_ bytes: ByteView, source: Int, received: Instant) {}
        mutating func rejected(_ reason: Rejection, bytes: ByteView, source: Int, received: Instant) {}
        mutating func batchEnd() {}
    }

    @Test(arguments: cases) func memoryIsBounded(_ endless: Case) throws {
        let cap = 4_096
        let decoder = StreamDecoder(try IngestKinds.builtIn.framing(endless.framing), cap: cap)
        let progress = StreamProgress(
            number: 0, lineCap: cap, acknowledging: decoder.base.acknowledging, isFresh: true, hasOpenEnds: false)
        var consumer = Consumer()
        func send(_ text: String) -> Bool {
            let bytes = PaddedBytes(copying: decoder.kept.array + Array(text.utf8))
            var intake = StreamIntake(progress)
            return decoder.take(
                StreamPiece(bytes.view, keptCount: bytes.capacity - text.utf8.count), &intake, to: &consumer)
        }
        let piece = String(repeating: endless.unit, count: (1 << 20) / endless.unit.utf8.count)
        guard send(endless.beginning), send(piece) else { return }
        let before = ProcessFacts.now().residentBytes
        for _ in 0..<6 where !send(piece) { return }
        #expect(ProcessFacts.now().residentBytes - before < 3 << 20)
    }
}
