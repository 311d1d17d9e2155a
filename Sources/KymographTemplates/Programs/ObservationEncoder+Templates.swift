package import KymographCore

extension ObservationEncoder {
    /// Compiles `templates`, one per type of `types` (nil for a type without); both have the same count.
    package init(
        types: [MeasurementType], templates: [FHIRTemplate?], options: ObservationOptions = ObservationOptions(),
        digest: Digest256
    ) {
        self.init(
            ProgramCompiler.programs(types, templates, options), options: options, digest: digest,
            compile: ProgramCompiler.programs)
    }
}

extension ProgramCompiler {
    /// The programs of `templates`, one per type of `types`.
    static func programs(
        _ types: [MeasurementType], _ templates: [FHIRTemplate?], _ options: ObservationOptions
    ) -> ObservationPrograms {
        precondition(types.count == templates.count)
        var compiler = ProgramCompiler(options: options)
        for (type, template) in zip(types, templates) { compiler.add(type, template) }
        compiler.constants.pad()
        return ObservationPrograms(
            constants: compiler.constants, steps: compiler.steps, fields: compiler.fields, types: compiler.types,
            tables: compiler.tables, resources: compiler.resources, resourceSteps: compiler.resourceSteps,
            summaries: compiler.summaries, attachments: compiler.attachments)
    }
}
