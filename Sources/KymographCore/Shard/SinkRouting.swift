/// What each sink of a pipeline gets. A sink is known by its place, which no other has as long as the process runs:
/// routes that are on their way when a sink goes never mean the one that comes after it.
package struct SinkRouting: Hashable, Sendable {
    /// Which Observations each sink gets, by place; nil for a place that has no sink any more.
    package var filters: [SinkFilter?]
    /// The sinks that get readings as events.
    package var events: [EventSinks.Sink]
    /// A routing; there are ``BundleRoute/mostSinks`` places at most.
    package init(filters: [SinkFilter?], events: [EventSinks.Sink]) { (self.filters, self.events) = (filters, events) }

    /// The sinks that get every Observation where no filter decides. They are named, since others may come before what
    /// is made for these is with them.
    package var everyone: BundleRoute {
        var route = BundleRoute.none
        for (place, filter) in filters.enumerated() where filter?.takesObservations == true { route.insert(place) }
        return route == .none ? .all : route
    }

    /// Decides who gets what is written by the templates of `set`; nil when all get all.
    package func router(_ set: MappingSet) -> BundleRouter? {
        BundleRouter(filters, types: set.types, templates: set.fhirTemplates)
    }

    /// The sinks that get events, with the types of `set`.
    package func eventSinks(_ set: MappingSet) -> EventSinks {
        EventSinks(events, types: set.types, templates: set.fhirTemplates)
    }
}
