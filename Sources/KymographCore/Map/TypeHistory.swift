/// What is known of the readings of a type, of this set and those before it.
package struct TypeHistory: Hashable, Sendable {
    /// Whether its readings became Observations.
    package var hasTemplate: Bool
    /// What they mean.
    package var meaning: TypeMeaning

    /// A history.
    package init(hasTemplate: Bool, meaning: TypeMeaning) {
        (self.hasTemplate, self.meaning) = (hasTemplate, meaning)
    }
}

extension MappingSet {
    /// For each type, whether a device template gives it and its readings become Observations. The others are types of
    /// former sets, whose windows nothing can fill any more.
    var typesInUse: [Bool] {
        let given = Set(templates.map(\.type))
        return types.indices.map { given.contains($0) && fhirTemplates[$0] != nil }
    }
}
