/// Gives series their numbers, and counts devices.
struct SeriesRegistry {
    private(set) var identities: [SeriesIdentity] = []
    private var numbers = NumberIndex()
    /// The first series of each device.
    private var devices = NumberIndex()
    /// Whether a device, and whether a series, was refused since the limits are in use.
    private(set) var refuses = (devices: false, series: false)

    var deviceCount: Int { devices.count }

    /// The number of a series that was introduced before, or nil.
    func number(of identity: SeriesIdentity) -> Int? {
        numbers.find(hash: identity.hashValue) { identities[$0] == identity }
    }

    /// Whether `device` has a series.
    func hasDevice(_ device: [UInt8]) -> Bool {
        devices.find(hash: device.hashValue) { identities[$0].device == device } != nil
    }

    /// Prefetches the identity of `series`, but not of what that refers to.
    @inline(__always)
    func prefetch(_ series: Int) { identities.prefetch(series) }

    /// Prefetches the device of `series`, whose identity should be at hand.
    @inline(__always)
    func prefetchDevice(of series: Int) { identities.prefetch(\.device, of: series) }

    /// Numbers a new series, or returns nil when it, or its device, is over a limit, if there is one.
    ///
    /// - Precondition: It has no number: with two, a reading of it would be there twice, and of two windows of one name
    ///   one would take the other's place.
    mutating func introduce(_ identity: SeriesIdentity, limits: WindowLimits?) -> Int? {
        precondition(number(of: identity) == nil, "a series has one number")
        guard identities.count < limits?.maxSeries ?? .max else {
            refuses.series = true
            return nil
        }
        let knownDevice = devices.find(hash: identity.device.hashValue) { identities[$0].device == identity.device }
        guard knownDevice != nil || devices.count < limits?.maxDevices ?? .max else {
            refuses.devices = true
            return nil
        }
        let number = identities.count
        identities.append(identity)
        numbers.insert(number) { [identities] in identities[$0].hashValue }
        if knownDevice == nil { devices.insert(number) { [identities] in identities[$0].device.hashValue } }
        return number
    }

    /// Notes that a device, or series, was refused that no reading has brought.
    mutating func refuse(devices: Bool = false, series: Bool = false) {
        refuses = (refuses.devices || devices, refuses.series || series)
    }

    /// Goes by other limits from here on.
    mutating func forgetRefusals() { refuses = (false, false) }
}
