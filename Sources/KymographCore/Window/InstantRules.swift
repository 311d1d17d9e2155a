/// What becomes of readings of one series at one instant.
struct InstantRules: BitwiseCopyable {
    /// What tells them apart.
    let key: ReadingKey
    /// What becomes of those that it does not tell apart.
    let sameInstant: SameInstant
    /// Whether each becomes an Observation of its own.
    let isInstance: Bool
    /// Whether they can have several values, so that one may be a part of another.
    let hasParts: Bool

    /// Those of the types that no reading has.
    static let none = InstantRules(key: .none, sameInstant: .merge, isInstance: false, hasParts: true)

    private init(key: ReadingKey, sameInstant: SameInstant, isInstance: Bool, hasParts: Bool) {
        (self.key, self.sameInstant, self.isInstance, self.hasParts) = (key, sameInstant, isInstance, hasParts)
    }

    init(_ type: MeasurementType) {
        key = ReadingKey(type)
        sameInstant = type.sameInstant
        isInstance = type.grouping == .instance
        hasParts = type.valueNames.indices.count { !type.isHidden($0) } > 1
    }

    /// What becomes of `content` where there is a reading of the same key that says something else. Of single readings
    /// without id only one can stay: their Observations would have one identity.
    func policy(for content: ReadingKey.Content) -> SameInstant {
        if key.hasId(content) { return .latest }
        return sameInstant == .keep && isInstance ? .latest : sameInstant
    }
}
