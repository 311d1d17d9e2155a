import KymographTestKit
import Testing

@testable import Kymograph
@testable import KymographCore

/// Observations that a server is asked to create: what it has already it keeps.
@Suite struct DeliveryCreateTests {
    private static func row(_ value: Int) -> String {
        TestRow.transaction([TestRow.Reading("a", 1, value)])
            .replacing("\"id\":\"a-1\",", with: "")
            .replacing(
                "{\"method\":\"PUT\",\"url\":\"Observation/a-1\"}",
                with: "{\"method\":\"POST\",\"url\":\"Observation\","
                    + "\"ifNoneExist\":\"identifier=urn:kymograph:observation|.a-1\"}")
    }

    private func lacking(_ rehearsal: DeliveryRehearsal) -> [Bool] {
        rehearsal.outbox.receipts.filter { $0.resource.hasPrefix("Observation") }.map(\.isLacking)
    }

    /// Another content under the identifier is no delivery of this one.
    @Test func whatTheServerKeepsIsNoDelivery() throws {
        let rehearsal = try DeliveryRehearsal([Self.row(10), Self.row(11)])
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 10])
        #expect(lacking(rehearsal) == [false, true])
    }

    /// The same content is: a bundle whose answer was lost comes again.
    @Test func whatWasStoredBeforeIsADelivery() throws {
        let rehearsal = try DeliveryRehearsal([Self.row(10)])
        rehearsal.server.steps = [.lose(.timeout)]
        rehearsal.run()
        #expect(rehearsal.values == ["a-1": 10])
        #expect(lacking(rehearsal) == [false])
        #expect(rehearsal.server.searches.count == 1)
    }
}
