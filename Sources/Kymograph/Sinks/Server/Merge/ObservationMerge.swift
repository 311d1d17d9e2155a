package import KymographCore
package import KymographTemplates

/// Merges an Observation into the one that a server already holds under its identity (mapping dialect, section 6.4).
///
/// Both are FHIR JSON. The category is the new one's; effective becomes the union of both, and so do the exact times in
/// extensions (``ExactTimes``); each value is merged by its
/// type: series sample by sample, of equal times the new one, everything else is replaced. Code, status, identifiers,
/// references and values that the new one lacks stay. Status is the caller's: `amended` when the result differs.
///
/// With `compatibility: iomt-fhir`, quirks 19, 20 and 21 are the reference's. By default a series keeps the time of
/// every sample: where the two grids do not fit, the merged one is as fine as both need.
package struct ObservationMerge: Sendable {
    /// Why two Observations cannot be merged.
    package struct Failure: Error, Hashable, Sendable {
        /// What does not fit.
        package var message: String
    }

    let compatibility: Compatibility
    let old: EffectiveTexts
    let new: EffectiveTexts
    let union: EffectiveTexts

    /// The merged Observation.
    ///
    /// - Throws: ``Failure`` when the types or units of the two differ, or one has a form that cannot be merged.
    package static func merge(
        _ existing: JSONNode, with new: JSONNode, compatibility: Compatibility = .none
    ) throws(Failure) -> JSONNode {
        let merge = ObservationMerge(
            compatibility: compatibility, old: try EffectiveTexts(existing), new: try EffectiveTexts(new))
        return try merge.merged(existing, new)
    }

    private init(compatibility: Compatibility, old: EffectiveTexts, new: EffectiveTexts) {
        self.compatibility = compatibility
        self.old = old
        self.new = new
        union = old.union(new)
    }

    private func merged(_ existing: JSONNode, _ new: JSONNode) throws(Failure) -> JSONNode {
        var merged = existing
        merged.set("category", to: new.member("category"))
        // The reference has nothing but periods.
        let isPoint = existing.member("effectiveDateTime") != nil
        if union != old || isPoint && compatibility == .iomtFHIR {
            merged.set("effectiveDateTime", to: nil)
            merged.set("effectivePeriod", to: union.node)
        }
        ExactTimes.merge(of: new, into: &merged, hasNewTimes: union != old)
        try mergeValue(of: new, into: &merged)
        let components = try mergedComponents(existing, new)
        if !components.isEmpty { merged.set("component", to: JSONNode(.array(components))) }
        return merged
    }

    // MARK: Values

    private func mergeValue(of new: JSONNode, into merged: inout JSONNode) throws(Failure) {
        if compatibility == .iomtFHIR, new.valueMember != nil, merged.valueMember == nil {
            throw Failure(message: "the stored Observation has no value to merge into")
        }
        try merge(new, into: &merged, createdOver: union)
    }

    /// Merges the value of `new` into that of `holder`; one that `holder` lacks is written over the time `created`.
    private func merge(
        _ new: JSONNode, into holder: inout JSONNode, createdOver created: EffectiveTexts
    ) throws(Failure) {
        guard let existing = holder.valueMember else {
            guard let value = new.valueMember else { return }
            holder.set("dataAbsentReason", to: nil)
            return holder.set(value.name, to: try placed(value, from: self.new, over: created))
        }
        guard let value = new.valueMember else {
            return holder.set(existing.name, to: try placed(existing, from: old, over: union))
        }
        guard existing.name == value.name else {
            throw Failure(message: "the stored value is \(existing.name), the new one is \(value.name)")
        }
        guard value.name == "valueSampledData" else { return holder.set(value.name, to: value.node) }
        holder.set(value.name, to: try merged(series: existing.node, with: value.node))
    }

    /// A value as it stands in an Observation of the time `target`: series count from the start of it.
    private func placed(
        _ value: JSONNode.Member, from source: EffectiveTexts, over target: EffectiveTexts
    ) throws(Failure) -> JSONNode {
        guard value.name == "valueSampledData", source != target else { return value.node }
        let series = try SeriesNode(value.node)
        let samples = series.samples(from: source.start)
        let grid =
            compatibility == .iomtFHIR
            ? series.period : SeriesNode.grid([series.period], [source.start, target.start])
        return try series.replacing(samples, over: target, grid: grid, compatibility)
    }

    private func merged(series existing: JSONNode, with new: JSONNode) throws(Failure) -> JSONNode {
        let fresh = try SeriesNode(new)
        let stored = try SeriesNode(existing, otherwise: fresh.period)
        guard compatibility == .none else {
            // Quirk 20: the stored samples are read with the template's period, and the stored one is kept.
            let samples = SeriesText.merge(
                SeriesText.parse(stored.data, start: old.start, period: fresh.period),
                with: fresh.samples(from: self.new.start))
            return try stored.replacing(samples, over: union, grid: fresh.period, compatibility, keepsPeriod: true)
        }
        try stored.requireScale(of: fresh)
        let samples = SeriesText.merge(stored.samples(from: old.start), with: fresh.samples(from: self.new.start))
        let grid = SeriesNode.grid([stored.period, fresh.period], [old.start, self.new.start, union.start])
        return try stored.replacing(samples, over: union, grid: grid, compatibility)
    }

    // MARK: Components

    private func mergedComponents(_ existing: JSONNode, _ new: JSONNode) throws(Failure) -> [JSONNode] {
        var components = existing.member("component")?.elements ?? []
        var isMerged = [Bool](repeating: false, count: components.count)
        for component in new.member("component")?.elements ?? [] {
            if let place = components.firstIndex(where: { component.isSameComponent(as: $0) }) {
                try merge(component, into: &components[place], createdOver: union)
                if place < isMerged.count { isMerged[place] = true }
            } else {
                components.append(try created(component))
            }
        }
        for place in isMerged.indices where !isMerged[place] {
            guard let value = components[place].valueMember else { continue }
            components[place].set(value.name, to: try placed(value, from: old, over: union))
        }
        return components
    }

    /// A component that the stored Observation lacks. Quirk 21: the reference writes its series over the stored time,
    /// and what is outside is lost.
    private func created(_ component: JSONNode) throws(Failure) -> JSONNode {
        guard let value = component.valueMember else { return component }
        var created = component
        created.set(value.name, to: try placed(value, from: new, over: compatibility == .iomtFHIR ? old : union))
        return created
    }
}
