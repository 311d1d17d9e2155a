import KymographCore

/// A bundle on its way, which may have to be sent in parts, or an entry that is stored by itself. Its devices send
/// nothing else meanwhile.
final class Flight {
    /// What its failures say.
    enum Standing {
        /// Something about the server.
        case trusted
        /// The server has failed at it, and it may be to blame itself.
        case doubtful
        /// The same, and the devices do not wait for this entry, which is all of it.
        case detached(DeliveryEntry)
    }

    /// What is still to be delivered; the last part is the next.
    var parts: [BundlePart]
    /// Lanes of its devices.
    var lanes: [DeviceLane]
    /// Patients and Devices that no other bundle may ask the server to make meanwhile.
    var locked: Set<ServerIdentifier>
    var standing: Standing

    init(
        _ parts: [BundlePart], lanes: [DeviceLane], locked: Set<ServerIdentifier> = [], standing: Standing = .trusted
    ) {
        self.parts = parts
        self.lanes = lanes
        self.locked = locked
        self.standing = standing
    }

    /// Whether the server has failed at it.
    var isDoubtful: Bool {
        switch standing {
        case .trusted: false
        case .doubtful, .detached: true
        }
    }

    /// Whether its devices do not wait for it.
    var isDetached: Bool {
        switch standing {
        case .trusted, .doubtful: false
        case .detached: true
        }
    }

    /// Notes that the server has failed at it.
    func doubt() {
        switch standing {
        case .trusted: standing = .doubtful
        case .doubtful, .detached: break
        }
    }

    /// Takes `entry` out of the next part, which goes if nothing is left of it.
    func remove(_ entry: DeliveryEntry) {
        guard let part = parts.popLast() else { return }
        let left = part.entries.filter { $0 !== entry }
        if !left.isEmpty { parts.append(part.only(left)) }
    }
}
