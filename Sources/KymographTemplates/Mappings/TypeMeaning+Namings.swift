package import KymographCore

/// A device template that tells readings apart by something that stored ones do not have, or no more by what they have.
struct NamingChange {
    /// The field of the template.
    var field: String
    /// The template (``ConversionKey``).
    var template: String
    /// Whether the field came, or went.
    var isAdded: Bool
    /// The match expression of the template that stored readings came by, where that was another one.
    var former: String?
}

extension TypeMeaning {
    private static let namingFields: [(name: String, has: @Sendable (ReadingNaming) -> Bool?)] = [
        ("readingIdExpression", { $0.hasId }), ("startExpression", { $0.hasStart }),
    ]

    /// What `new` tells readings apart by otherwise.
    func namingChanges(to new: TypeMeaning) -> [NamingChange] {
        guard let former = namings, let present = new.namings else { return [] }
        return present.sorted { $0.key < $1.key }.flatMap { key, naming in
            let others = TypeMeaning.predecessors(of: key, among: former, without: present)
            return TypeMeaning.namingFields.compactMap { field -> NamingChange? in
                let known = others.compactMap { other in field.has(other.value).map { (key: other.key, has: $0) } }
                guard let has = field.has(naming), let first = known.first, !known.contains(where: { $0.has == has })
                else { return nil }
                let match = ConversionKey.template(of: first.key).match
                return NamingChange(
                    field: field.name, template: key, isAdded: has,
                    former: match == ConversionKey.template(of: key).match ? nil : match)
            }
        }
    }

    /// What the template `key` was before: itself, or else those that are gone and had its match, or were of its
    /// mapping. What comes besides those that stay is for devices of its own.
    private static func predecessors(
        of key: String, among former: [String: ReadingNaming], without present: [String: ReadingNaming]
    ) -> [(key: String, value: ReadingNaming)] {
        if let known = former[key] { return [(key, known)] }
        let template = ConversionKey.template(of: key)
        return former.sorted { $0.key < $1.key }.filter { other, _ in
            let (folder, match) = ConversionKey.template(of: other)
            return present[other] == nil && (match == template.match || folder == template.folder)
        }.map { ($0.key, $0.value) }
    }

    /// Notes what a store of an earlier version knows of `type`: whether it keeps several readings of one time, and
    /// whether any template has had ids, or starts.
    package mutating func noteFormer(_ type: MeasurementType) {
        keepsSeveral = keepsSeveral ?? type.keepsSeveral
        guard namings == nil else { return }
        let (hasIds, hasStarts) = (type.idSlot != nil, type.durationSlot != nil)
        let naming = ReadingNaming(hasId: hasIds ? nil : false, hasStart: hasStarts ? nil : false)
        namings = conversions.keys.reduce(into: [:]) { namings, key in
            let (folder, match) = ConversionKey.template(of: key)
            namings[ConversionKey.key(mapping: folder, match: match), default: naming] = naming
        }
    }
}

extension MeasurementType {
    /// Whether its windows may have several readings that nothing tells apart but their values: of single readings
    /// without id only one can stay.
    var keepsSeveral: Bool { sameInstant == .keep && grouping != .instance }
}
