@testable import Kymograph
import KymographCore
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

    /// What a sink got by other settings counts in the run; what was wrong with it then does until it has answered.
    @Test(arguments: [false, true]) func countsGoOn(hasAnswered: Bool) {
        let time = Instant(seconds: 1_772_352_000)
        var former = DeliverySummary()
        (former.delivered, former.deleted, former.undeliverable, former.retries) = (3, 1, 2, 4)
        former.undeliverableReasons = ReasonCounts([.serverRefused: 2])
        former.trouble = DeliveryTrouble(.unreachable, "cannot be reached")
        former.traffic = SinkTraffic()
        former.traffic?.add(status: 200, bytes: 10, after: .seconds(1), at: time)
        former.traffic?.add(status: nil, bytes: 10, after: .seconds(1), at: time)
        var summary = DeliverySummary()
        (summary.delivered, summary.undeliverable, summary.retries) = (1, 1, 1)
        summary.undeliverableReasons = ReasonCounts([.serverFailed: 1])
        summary.traffic = SinkTraffic()
        summary.traffic?.add(status: hasAnswered ? 200 : nil, bytes: 5, after: .seconds(1), at: time)
        summary.add(former)
        #expect(summary.delivered == 4 && summary.taken == 5 && summary.undeliverable == 3 && summary.retries == 5)
        #expect(summary.undeliverableReasons.text == "3 (serverFailed 1, serverRefused 2)")
        let endings = summary.traffic?.endings.map { "\($0.code) \($0.count)" }
        #expect(endings == (hasAnswered ? ["200 2", "failed 1"] : ["200 1", "failed 2"]))
        #expect(summary.traffic?.sentBytes == 25 && summary.traffic?.durations.seconds == 3)
        #expect((summary.trouble == nil) == hasAnswered)
    }

    /// A database that was connected to is in no trouble by its new settings, though nothing was there to be sent. That
    /// the circuit of brokers is closed says nothing: they were not asked.
    @Test(arguments: [false, true]) func nothingWasThereToBeSent(hasAnswered: Bool) {
        var former = DeliverySummary()
        former.trouble = DeliveryTrouble(.credentialsRefused, "the password is refused")
        var status = DeliveryStatus()
        (status.circuit, status.hasAnswered) = (.closed, hasAnswered)
        var summary = DeliverySummary(status)
        summary.add(former)
        #expect(summary.isUp && (summary.trouble == nil) == hasAnswered)
    }
}
