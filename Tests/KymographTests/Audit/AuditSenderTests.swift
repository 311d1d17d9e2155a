@testable import Kymograph
import KymographTestKit
import Synchronization
import Testing

/// Records go to a server in their order; one that it never takes is left out, and an outage leaves no gap.
@Suite struct AuditSenderTests {
    private static let statement = #"{"resourceType":"CapabilityStatement","fhirVersion":"4.0.1"}"#

    /// A server whose answers to events depend on what it is asked for.
    private final class Server: HTTPTransport {
        struct State {
            /// The status of an event, by its digest and how often it was sent before; 0 for no answer.
            var status: @Sendable (_ digest: String, _ times: Int) -> Int = { _, _ in 201 }
            /// Whether it says what it is, when it is asked for the time of this number.
            var isFHIR: @Sendable (_ times: Int) -> Bool = { _ in true }
            /// Whether the request of this number, counted from 1, goes to a server that stores nothing now.
            var isAway: @Sendable (_ number: Int) -> Bool = { _ in false }
            var requests = 0
            var sent: [String] = []
            var asked = 0
        }

        let state = Mutex(State())

        func submit(
            _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void
        ) {
            let (status, body) = state.withLock { state in
                state.requests += 1
                guard request.method == "PUT" else {
                    state.asked += 1
                    return state.isFHIR(state.asked) ? (200, AuditSenderTests.statement) : (503, "")
                }
                let digest = String(request.url.split(separator: "/").last ?? "")
                let times = state.sent.count { $0 == digest }
                state.sent.append(digest)
                return (state.isAway(state.requests) ? 500 : state.status(digest, times), "")
            }
            guard status > 0 else { return completion(.failure(HTTPFailure(.timeout, "no answer"))) }
            completion(.success(HTTPResponse(status: status, body: Array(body.utf8))))
        }
    }

    private let server = Server()
    private let items: [AuditTail.Item]

    init() {
        var (items, head) = ([AuditTail.Item](), AuditHead.origin)
        for number in 1...6 {
            let record = AuditRecord(AuditDeed(.query, "shows \(number)"), after: head)
            let digest = record.line.digest
            items.append(AuditTail.Item(record: record, digest: digest))
            head = AuditHead(sequence: record.sequence, digest: digest)
        }
        self.items = items
    }

    private func makeSender() -> AuditSender {
        AuditSender(AuditServer(base: "https://a.example/fhir", timeout: 1_000, server, OpenAuthorizer()))
    }

    /// Sends what is left in rounds, `most` at most; what has become of each record, and how many rounds failed.
    private func send(
        _ sender: inout AuditSender, _ items: [AuditTail.Item], most: Int = 100
    ) -> (fates: [AuditSender.Fate], failures: Int) {
        var (fates, failures) = ([AuditSender.Fate](), 0)
        for _ in 0..<most where fates.count < items.count {
            let rest = Array(items.dropFirst(fates.count))
            let stop = sender.send(rest) {
                false
            } done: { item, fate in
                #expect(item.digest == items[fates.count].digest, "in their order")
                fates.append(fate)
            }
            if stop != nil { failures += 1 }
        }
        return (fates, failures)
    }

    private func sent() -> [Int] {
        server.state.withLock { $0.sent }.compactMap { digest in items.firstIndex { $0.digest == digest } }
    }

    @Test(arguments: [500, 409, 0]) func oneThatFailsForGood(status: Int) {
        let poison = items[1].digest
        server.state.withLock { $0.status = { digest, _ in digest == poison ? status : 201 } }
        var sender = makeSender()
        let (fates, failures) = send(&sender, items)
        // The rest is sent once each, and the one behind it not before the eighth failure.
        #expect(fates.count == 6 && fates.enumerated().allSatisfy { $0.offset == 1 || $0.element == .stored })
        if case .leftOut(let reason) = fates[1] {
            #expect(reason.hasSuffix("again and again, while it takes others"), "\(reason)")
        } else {
            Issue.record("\(fates)")
        }
        #expect(failures == AuditSender.patientFailures - 1)
        #expect(sent() == [0] + Array(repeating: 1, count: AuditSender.patientFailures) + [2, 1, 1, 3, 4, 5])
    }

    /// However long it lasts, and whatever the server says of itself meanwhile.
    @Test(arguments: [true, false]) func anOutageLeavesNoGap(isFHIR: Bool) {
        server.state.withLock { state in
            state.status = { _, times in times < 40 ? 500 : 201 }
            state.isFHIR = { $0 > 30 || isFHIR }
        }
        var sender = makeSender()
        #expect(send(&sender, items, most: 1_000).fates == Array(repeating: .stored, count: 6))
    }

    /// A server that comes back just when the one behind is tried, or goes away then.
    @Test func aServerThatComesAndGoes() {
        let (first, second) = (items[0].digest, items[1].digest)
        server.state.withLock { $0.status = { digest, times in digest == first && times < 8 ? 500 : 201 } }
        var sender = makeSender()
        #expect(send(&sender, items).fates == Array(repeating: .stored, count: 6))
        #expect(sent() == Array(repeating: 0, count: 8) + [1, 0, 2, 3, 4, 5])
        server.state.withLock { state in
            state = Server.State()
            // Away from the tenth time on at which the first is sent, until it has been asked four times in vain.
            state.status = { digest, times in digest == first && times < 10 ? 500 : digest == second ? 200 : 201 }
            state.isFHIR = { !(9...12).contains($0) }
        }
        sender = makeSender()
        #expect(send(&sender, items).fates == Array(repeating: .stored, count: 6))
    }

    /// The last record holds nothing up: it waits until there is another one.
    @Test func theLastOneWaits() {
        let poison = items[2].digest
        server.state.withLock { $0.status = { digest, _ in digest == poison ? 500 : 201 } }
        var sender = makeSender()
        #expect(send(&sender, Array(items[...2]), most: 50).fates == [.stored, .stored])
        let (fates, failures) = send(&sender, Array(items[2...]))
        #expect(fates.count == 4 && fates[0] != .stored && fates[1...].allSatisfy { $0 == .stored } && failures == 0)
    }

    /// Two in a row: the next ones are tried, one after each further failure, and those between get their own turn.
    @Test func twoThatFailForGood() {
        let poisons = items[1...2].map(\.digest)
        server.state.withLock { $0.status = { digest, _ in poisons.contains(digest) ? 500 : 201 } }
        var sender = makeSender()
        let (fates, failures) = send(&sender, items)
        #expect(fates.map { $0 == .stored } == [true, false, false, true, true, true])
        let patient = AuditSender.patientFailures
        #expect(failures == patient + patient - 1)
        #expect(
            sent() == [0] + Array(repeating: 1, count: patient) + [2, 1, 3, 1, 1]
                + Array(repeating: 2, count: patient) + [3, 2, 2, 4, 5])
    }

    /// Two servers behind one address, by turns, of which one stores nothing: that leaves no gap.
    @Test(arguments: [0, 1]) func oneOfTwoIsAway(turn: Int) {
        server.state.withLock { $0.isAway = { $0 % 2 == turn } }
        var sender = makeSender()
        #expect(send(&sender, items, most: 1_000).fates == Array(repeating: .stored, count: 6))
    }

    /// An answer that says "later" is no failure of the event, however often it comes.
    @Test(arguments: [429, 503]) func laterIsNoFailure(status: Int) {
        let late = items[1].digest
        server.state.withLock { $0.status = { digest, times in digest == late && times < 50 ? status : 201 } }
        var sender = makeSender()
        let (fates, failures) = send(&sender, items)
        #expect(fates == Array(repeating: .stored, count: 6) && failures == 50)
        #expect(sent() == [0] + Array(repeating: 1, count: 51) + [2, 3, 4, 5])
        // Nor is it when it comes behind the one that was tried.
        server.state.withLock { state in
            state = Server.State()
            state.status = { digest, times in
                digest != late || times >= 50 ? 201 : times < AuditSender.patientFailures ? 500 : status
            }
        }
        sender = makeSender()
        #expect(send(&sender, items).fates == Array(repeating: .stored, count: 6))
    }
}
