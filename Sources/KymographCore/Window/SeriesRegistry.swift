/// Gives series their numbers, and counts devices.
struct SeriesRegistry {
    private var numbers: [SeriesIdentity: Int] = [:]
    private var devices: Set<[UInt8]> = []
    private(set) var identities: [SeriesIdentity] = []

    var deviceCount: Int { devices.count }

    /// The number of a series that was introduced before, or nil.
    func number(of identity: SeriesIdentity) -> Int? {
        numbers[identity]
    }

    /// Numbers a new series, or returns nil when it, or its device, is over a limit.
    mutating func introduce(_ identity: SeriesIdentity, limits: WindowLimits) -> Int? {
        guard identities.count < limits.maxSeries else { return nil }
        guard devices.count < limits.maxDevices || devices.contains(identity.device) else { return nil }
        let number = identities.count
        numbers[identity] = number
        devices.insert(identity.device)
        identities.append(identity)
        return number
    }
}
