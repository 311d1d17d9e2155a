import KymographCore
import Synchronization

/// Where taps are opened on a pipeline, and where its threads see that there are some.
///
/// While there are none, a lane looks at ``generation`` once for each batch, and a shard at ``showsResources`` once for
/// each unit that it hands to the store.
final class TapPoint: Sendable {
    private let taps = Mutex<[OpenTap]>([])
    private let published = Atomic(0)
    private let resourceTaps = Atomic(0)
    private let attention: PayloadAttention

    /// Most taps at a time.
    static let most = 4

    /// No taps yet. Those that show payloads are a reason for `attention`.
    init(_ attention: PayloadAttention) { self.attention = attention }

    /// How often taps were opened or closed.
    @inline(__always)
    var generation: Int { published.load(ordering: .relaxed) }

    /// Whether any tap shows resources.
    var showsResources: Bool { resourceTaps.load(ordering: .relaxed) > 0 }

    /// The taps, and the generation that they are of.
    var current: (taps: [OpenTap], generation: Int) { taps.withLock { ($0, generation) } }

    /// Why `peer` may not open a tap on an instance of user `owner`; nil when it may.
    static func refusal(of request: TapRequest, by peer: PeerCredentials, owner: UInt32) -> String? {
        guard peer.user == owner else { return "only user \(owner), who runs the instance, may tap it" }
        guard (1...TapRequest.mostRate).contains(request.rate) else {
            return "a rate is 1 to \(TapRequest.mostRate) events per second"
        }
        return nil
    }

    /// Opens a tap; nil when there are ``most``.
    func open(_ request: TapRequest) -> OpenTap? {
        taps.withLock { taps in
            guard taps.count < TapPoint.most else { return nil }
            let tap = OpenTap(request)
            taps.append(tap)
            note(request.stage, 1)
            return tap
        }
    }

    /// Closes `tap`.
    func close(_ tap: OpenTap) {
        taps.withLock { taps in
            guard let place = taps.firstIndex(where: { $0 === tap }) else { return }
            taps.remove(at: place)
            note(tap.request.stage, -1)
        }
    }

    /// Called with the lock held.
    private func note(_ stage: TapRequest.Stage, _ change: Int) {
        switch stage {
        case .payload: attention.add(change)
        case .measurement: break
        case .observation: resourceTaps.add(change, ordering: .relaxed)
        }
        published.add(1, ordering: .relaxed)
    }
}
