import KymographCore

/// What one peer may bring, as long as its list of peers is in use. For any thread.
package final class PeerGrant: Sendable {
    /// Who it is, and what it may bring.
    package let rule: PeerRule
    private let readings: RateLimit?
    private let bytes: RateLimit?
    private let devices: DeviceRates?

    /// What `rule` says.
    package init(_ rule: PeerRule) {
        self.rule = rule
        readings = RateLimit(rate: rule.readings.perSecond, burst: rule.readings.burst)
        bytes = RateLimit(rate: rule.bytes.perSecond, burst: rule.bytes.burst)
        devices = rule.readingsOfDevice.perSecond > 0 ? DeviceRates(rule.readingsOfDevice) : nil
    }

    /// Seconds until it may bring more; 0 when it may.
    var wait: Int { max(readings?.wait ?? 0, bytes?.wait ?? 0) }

    /// Whether not every payload is taken from it by all mappings, as it says.
    var boundsPayloads: Bool { asksOfEach || !rule.mappings.isEmpty }

    /// Whether each payload of it is to be looked at by itself.
    var asksOfEach: Bool { bytes != nil || rule.patient != nil }

    /// Those of `mappings` that it may use.
    func allowed(_ mappings: [String]) -> [String] {
        rule.mappings.isEmpty ? mappings : mappings.filter { rule.mappings.contains(IdentifierText($0)) }
    }

    /// The same of names as they are compared.
    func allowed(_ mappings: [IdentifierText]) -> [IdentifierText] {
        rule.mappings.isEmpty ? mappings : mappings.filter { rule.mappings.contains($0) }
    }

    /// Notes a reading of a request, which is taken as a whole.
    fileprivate func charge() { readings?.charge() }

    /// Whether there is one more reading for it.
    fileprivate func take() -> Bool { readings?.take() ?? true }

    /// Notes `count` bytes of a request.
    fileprivate func charge(bytes count: Int) { bytes?.charge(count) }

    /// Whether a payload of `count` bytes may come.
    fileprivate func take(bytes count: Int) -> Bool { bytes?.take(count) ?? true }

    /// Whether there is one more reading for the device of the series `key`.
    fileprivate func takeForDevice(_ key: ByteView) -> Bool { devices?.take(SeriesKey.device(of: key)) ?? true }

    /// Whether a client whose certificate names `device` may bring readings of the series `key`.
    func allows(_ key: ByteView, by device: CertifiedDevice?) -> Bool { refusal(of: key, device) == nil }

    /// Why a client whose certificate names `device` may not bring a reading of the series `key`, whatever came before.
    fileprivate func refusal(of key: ByteView, _ device: CertifiedDevice?) -> Rejection? {
        if rule.deviceFrom != nil || device != nil {
            // A letter's device is its own also where the list takes none from certificates any more.
            guard let device, device.kind == rule.deviceFrom ?? device.kind,
                SeriesKey.device(of: key).equals(device.bytes)
            else { return .deviceNotAllowed }
        }
        if !rule.devices.isEmpty, !rule.devices.contains(where: { $0.matches(SeriesKey.device(of: key)) }) {
            return .deviceNotAllowed
        }
        if let patient = rule.patient, !(SeriesKey.patient(of: key)?.equals(patient) ?? false) {
            return .patientNotAllowed
        }
        guard !rule.patients.isEmpty else { return nil }
        let isAllowed = SeriesKey.patient(of: key).map { patient in rule.patients.contains { $0.matches(patient) } }
        return isAllowed ?? false ? nil : .patientNotAllowed
    }
}

/// Which readings one peer may bring in one way, see docs/peers.md. For any thread.
public final class PeerAdmission: Sendable {
    /// Who it is; nil for a sender that is not known.
    let grant: PeerGrant?
    /// Whether readings beyond the rate are taken, because the sender is told to wait with the next request.
    private let isCharged: Bool
    private let former: FormerPeer?
    /// The device that the client's certificate names, where that says what it may bring, or did.
    let device: CertifiedDevice?

    /// Readings of `grant`'s peer, by a client whose certificate names `device`.
    init(_ grant: PeerGrant, isCharged: Bool, device: CertifiedDevice? = nil) {
        (self.grant, self.isCharged, former) = (grant, isCharged, nil)
        self.device = device
    }

    /// No reading of any, of what `former` brought.
    init(unknown former: FormerPeer?) {
        (grant, isCharged, device) = (nil, false, former?.device)
        self.former = former
    }

    /// No reading of any.
    static let nobody = PeerAdmission(unknown: nil)

    /// What it is called, or was.
    var name: String? { grant?.rule.name ?? former?.name?.text }

    /// Whose its readings are, or were, where that is fixed.
    var fixedPatient: FixedPatient { grant?.rule.fixedPatient ?? former?.patient ?? .unknown }

    /// Whether a payload of `count` bytes may come now.
    func take(bytes count: Int) -> Bool {
        guard let grant, isCharged else { return grant?.take(bytes: count) ?? true }
        grant.charge(bytes: count)
        return true
    }
}

extension PeerAdmission: ReadingAdmission {
    package var tags: [UInt8] { grant?.rule.tags ?? [] }

    package func refusal(of key: ByteView) -> Rejection? {
        guard let grant else { return .unknownPeer }
        if let refusal = grant.refusal(of: key, device) { return refusal }
        guard grant.takeForDevice(key) else { return .rateLimited }
        guard !isCharged else {
            grant.charge()
            return nil
        }
        return grant.take() ? nil : .rateLimited
    }
}
