extension MappingSet {
    /// What templates `indexes` look at in packets.
    func packetNeeds(of indexes: [Int]) -> PacketNeeds {
        let templates = indexes.map { self.templates[$0].template }
        let text = program.selectsUnnamed || templates.contains { readsText($0) }
        return PacketNeeds(
            names: program.names, all: program.selectsUnnamed, text: text,
            timesAsText: text || templates.contains { readsTimesAsText($0) })
    }

    /// What templates `indexes` look at in messages of HL7 v2.
    func messageNeeds(of indexes: [Int]) -> HL7Needs {
        let text = program.selectsUnnamed || indexes.contains { readsText(templates[$0].template) }
        return HL7Needs(names: program.names, all: text)
    }

    /// Whether the payloads of a source with these templates are messages of HL7 v2.
    package func hasMessages(_ indexes: [Int]) -> Bool { packetForm(of: indexes)?.carrier == .message }

    /// Whether `template` may look at an object as a whole.
    private func readsText(_ template: DeviceTemplate) -> Bool {
        template.compatibility != .none
            || (template.expressions + [template.match]).contains { $0.needsComposition || $0.path == nil }
    }

    /// Whether `template` may look at a time other than to say when a reading was made.
    private func readsTimesAsText(_ template: DeviceTemplate) -> Bool {
        let others =
            [template.match, template.device, template.patient, template.encounter, template.correlation]
            + template.values.flatMap(\.selections)
        return template.timestampFormat != .iso8601
            || others.compactMap { $0?.path }.contains { path in
                program.mentionedNames(of: path).contains { PacketDocument.times.contains(program.names[Int($0)]) }
            }
    }
}
