/// What templates look for in packets, whose members are known before any packet comes.
extension MappingLoader {
    /// Warns of names in the expressions of `templates` that no packet of `form` has.
    func checkFields(of templates: [DeviceTemplate], _ form: PacketForm, _ log: inout DiagnosticLog) {
        let members = form.members
        let known = Set(members + ["Body", "Properties", "SystemProperties", "matchedToken"])
        for template in templates {
            var expressions = [(template.match, template.position), (template.timestamp, template.position)]
            expressions += [
                template.device, template.start, template.patient, template.encounter, template.correlation,
            ]
            .compactMap { expression in expression.map { ($0, template.position) } }
            expressions += template.values.flatMap { value in
                value.selections.map { ($0, value.position) }
            }
            for (expression, position) in expressions {
                guard let path = expression.path else { continue }
                for name in program.paths.mentionedNames(of: path).map({ program.paths.names[Int($0)] })
                where !known.contains(name) {
                    log.warning(
                        position, "no packet has the member '\(name)' of \(expression.text)",
                        advice: NearestName.advice(
                            for: name, among: members, otherwise: "docs/gatt.md lists the members of packets"),
                        finding: .packetField)
                }
            }
        }
    }
}

extension MappingSet {
    /// What templates `indexes` look at in packets.
    func packetNeeds(of indexes: [Int]) -> PacketNeeds {
        let templates = indexes.map { self.templates[$0].template }
        let text = program.selectsUnnamed || templates.contains { readsText($0) }
        return PacketNeeds(
            names: program.names, all: program.selectsUnnamed, text: text,
            timesAsText: text || templates.contains { readsTimesAsText($0) })
    }

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
