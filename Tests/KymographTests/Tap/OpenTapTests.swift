@testable import Kymograph
import KymographCore
import Testing

/// What a tap takes of what lanes and shards offer it.
@Suite struct OpenTapTests {
    private func payload(_ size: Int) -> TapEvent {
        .payload(
            TappedPayload(
                received: .distantPast, source: 0, size: size, bytes: [UInt8](repeating: 0x61, count: size),
                outcome: PayloadOutcome()))
    }

    private func request(rate: Int, device: IdentifierText? = nil, type: String? = nil) -> TapRequest {
        TapRequest(.payload, device: device, type: type, rate: rate, reveals: false)
    }

    /// Nothing is granted beyond the events of one second, and what is not taken is counted.
    @Test func permitsBoundWhatIsTaken() {
        let tap = OpenTap(request(rate: 5))
        for _ in 0..<12 { tap.offer { payload(10) } }
        #expect(tap.takeEvents().count == 5 && tap.takePassedOver() == 7 && tap.takePassedOver() == 0)
        tap.grant(3)
        tap.grant(100)
        for _ in 0..<12 { tap.offer { payload(10) } }
        #expect(tap.takeEvents().count == 5 && tap.takePassedOver() == 7)
    }

    @Test func theBufferIsBounded() {
        let tap = OpenTap(request(rate: 1_000))
        for _ in 0..<1_000 { tap.offer { payload(TappedPayload.mostBytes) } }
        let taken = tap.takeEvents()
        #expect(taken.reduce(0) { $0 + $1.byteCount } <= 1 << 20 && taken.count > 50)
        #expect(taken.count + tap.takePassedOver() == 1_000)
    }

    @Test func identifiersAreComparedByTheirBytes() {
        let composed = OpenTap(request(rate: 1, device: "Bj\u{F6}rn"))
        #expect(composed.wants(device: ByteView("Bj\u{F6}rn")))
        #expect(!composed.wants(device: ByteView("Bjo\u{308}rn")) && !composed.wants(device: ByteView("Bj\u{F6}r")))
        #expect(!composed.wants(device: nil) && !composed.wantsAll)
        let typed = OpenTap(request(rate: 1, type: "heartRate"))
        #expect(typed.wants(type: "heartRate") && !typed.wants(type: "heartrate") && typed.wants(device: nil))
    }

    /// A place is free again when its tap was closed, and lanes see each change.
    @Test func tapsAreOpenedAndClosed() throws {
        let attention = PayloadAttention()
        let point = TapPoint(attention)
        let taps = (0..<TapPoint.most).compactMap { _ in point.open(request(rate: 1)) }
        #expect(taps.count == TapPoint.most && point.open(request(rate: 1)) == nil && !attention.isNone)
        let generation = point.generation
        for tap in taps { point.close(tap) }
        #expect(attention.isNone && point.generation > generation && point.current.taps.isEmpty)
        point.close(taps[0])
        #expect(attention.isNone)
        let resources = try #require(
            point.open(TapRequest(.observation, device: nil, type: nil, rate: 1, reveals: false)))
        #expect(point.showsResources && attention.isNone)
        point.close(resources)
        #expect(!point.showsResources)
    }

    @Test func onlyTheOwnerMayTap() throws {
        let pair = try SocketPair(for: "the test")
        let peer = try #require(PeerCredentials(pair.lane.raw))
        #expect(TapPoint.refusal(of: request(rate: 10), by: peer, owner: peer.user) == nil)
        #expect(
            TapPoint.refusal(of: request(rate: 10), by: peer, owner: peer.user + 1)?.contains("who runs the instance")
                == true)
        for rate in [0, -1, 1_001] {
            #expect(TapPoint.refusal(of: request(rate: rate), by: peer, owner: peer.user) != nil)
        }
    }
}
