import KymographCore

/// Every key of a sink: those of its kinds' places, those of all, and those that only one kind has.
enum SinkSettings {
    typealias SinkSetting = Setting<PipelineSettings.Sink>

    /// All keys, in the order of the reference.
    static func all(_ kinds: SinkKinds) -> [SinkSetting] {
        kinds.keys.map { place($0, kinds) } + common
            + kinds.ownKeys.map { key in
                shared(key, kinds.all.filter { kind in kind.settings.contains { $0.key == key } })
            }
    }

    /// The setting that names the place of a sink.
    private static func place(_ key: String, _ kinds: SinkKinds) -> SinkSetting {
        let group = kinds.kinds(key)
        let form = group.map(\.form).joined(separator: " or ")
        return .single(key, form, group[0].about) { (text, sink) throws(SettingProblem) in
            sink.address = try kinds.address(text, key, sink.drafts[key])
            sink.drafts[key] = sink.address
        } shown: { _ in
            ""
        }
    }

    /// The setting `key` of several `kinds`, which is read for all of them: its element may name its kind later.
    private static func shared(_ key: String, _ kinds: [SinkDescriptor]) -> SinkSetting {
        let all = kinds.flatMap { kind in kind.settings.filter { $0.key == key }.map { (kind.key, own($0, of: kind)) } }
        let first = all[0].1
        guard all.count > 1 else { return first }
        let abouts = all.map(\.1.about)
        let about = abouts.dropFirst().allSatisfy { $0 == first.about } ? first.about : abouts.joined(separator: "; ")
        return SinkSetting(key: key, form: first.form, about: about, values: first.values, elements: first.elements) {
            (texts, sink) throws(SettingProblem) in
            for (_, setting) in all { try setting.read(texts, &sink) }
        } shown: { sink in
            (all.first { $0.0 == sink.address?.kind.key }?.1 ?? first).shown(sink)
        }
    }

    /// A setting that `kind` has.
    private static func own(_ setting: Setting<any SinkAddress>, of kind: SinkDescriptor) -> SinkSetting {
        let elements: (@Sendable (PipelineSettings.Sink) -> [String])? = setting.elements.map { own in
            { @Sendable sink in (sink.drafts[kind.key] ?? kind.start).map(own) ?? [] }
        }
        return SinkSetting(
            key: setting.key, form: setting.form, about: setting.about, values: setting.values, elements: elements
        ) { (texts, sink) throws(SettingProblem) in
            guard var draft = sink.drafts[kind.key] ?? kind.start else {
                preconditionFailure("the kind '\(kind.key)' has settings, and nothing to read them into")
            }
            try setting.read(texts, &draft)
            sink.drafts[kind.key] = draft
            if sink.address?.kind.key == kind.key { sink.address = draft }
        } shown: { sink in
            (sink.drafts[kind.key] ?? kind.start).map(setting.shown) ?? ""
        }
    }

    /// Those of all kinds.
    static let common: [SinkSetting] = [
        .text("name", "text", \.statedName, "Name in messages, receipts and progress"),
        .choice(
            "format", \.statedFormat, [("fhir", .fhir), ("events", .events)],
            "What it gets: Observations and other resources, or readings as normalised events of iomt-fhir; left out, "
                + "events for an event hub and else `fhir`"),
        .names("types", "type, with `*` for any characters", \.types, "Types of readings that it gets; left out, all"),
        .names(
            "devices", "device identifier, with `*` for any characters", \.devices,
            "Devices whose readings it gets; left out, all"),
        .names(
            "sources", "source's name, with `*` for any characters", \.sources,
            "Sources whose readings it gets: a window with a reading of one of them goes there as a whole"),
        .names(
            "tags", "tag, with `*` for any characters", \.tags,
            "Tags, of templates or readings, whose Observations it gets: `code`, or with system and bar before it"
        ),
    ]
}
