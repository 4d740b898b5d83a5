//! One walk over the tree that turns roles into the lists of `Parsed`.

use super::model::{
    Assertion, Block, Expression, Function, Import, Parameter, Part, Span, Statement,
    StatementKind, Test,
};
use super::roles::{self, Flag, NodeRoles, RoleMap};
use std::collections::BTreeSet;
use tree_sitter::{Node, Tree};

/// What the walk yields.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) syntax_errors: usize,
    pub(super) functions: Vec<Function>,
    pub(super) tests: Vec<Test>,
    pub(super) assertions: Vec<Assertion>,
    pub(super) blocks: Vec<Block>,
    pub(super) statements: Vec<Statement>,
    pub(super) expressions: Vec<Expression>,
    pub(super) imports: Vec<Import>,
    pub(super) comments: Vec<Span>,
    /// Tests and suites, the outermost ones, in source order.
    pub(super) test_code: Vec<Span>,
    /// Values of a match's arms.
    pub(super) choices: Vec<Span>,
    /// Names where they are declared, in source order.
    pub(super) declared: Vec<Span>,
    pub(super) attribute_names: BTreeSet<String>,
    pub(super) module_names: BTreeSet<String>,
}

/// Where a node stands. Each field is about its ancestors.
#[derive(Clone, Debug, Default)]
struct Place {
    function: Option<usize>,
    statement: Option<usize>,
    expression: Option<usize>,
    test: Option<usize>,
    /// The block that is the direct parent.
    block: Option<usize>,
    /// The definition that the parent wraps: its range is the child's.
    wrapper: Option<Span>,
    /// Names of scopes and functions around.
    scopes: usize,
    ignored: bool,
    /// Where the siblings that belong to the next one begin.
    leading: Option<usize>,
    comment: Option<(usize, usize)>,
}

pub(super) fn walk(tree: &Tree, source: &[u8], roles: &RoleMap, separator: &str) -> Lists {
    let mut walk = Walk {
        source,
        roles,
        separator,
        lists: Lists::default(),
        scopes: Vec::new(),
        locals: Vec::new(),
    };
    let mut cursor = tree.walk();
    let mut places = vec![Place::default()];
    'nodes: loop {
        let child = walk.enter(&cursor.node(), &mut places);
        if cursor.goto_first_child() {
            places.push(child);
            continue;
        }
        while !cursor.goto_next_sibling() {
            places.pop();
            if !cursor.goto_parent() {
                break 'nodes;
            }
        }
    }
    walk.finish()
}

struct Walk<'a> {
    source: &'a [u8],
    roles: &'a RoleMap,
    separator: &'a str,
    lists: Lists,
    /// Names around the current node.
    scopes: Vec<String>,
    /// Names assigned, by function.
    locals: Vec<BTreeSet<String>>,
}

impl Walk<'_> {
    /// Records a node and says where its children stand.
    fn enter(&mut self, node: &Node<'_>, places: &mut [Place]) -> Place {
        let Some(place) = places.last_mut() else { return Place::default() };
        if node.is_error() || node.is_missing() {
            self.lists.syntax_errors += 1;
        }
        let mut child = place.clone();
        child.block = None;
        child.wrapper = None;
        child.leading = None;
        child.comment = None;
        if place.ignored {
            return child;
        }
        let found = roles::of(self.roles, node);
        if node.is_extra() && node.is_named() && !node.is_error() {
            self.comment(node, place);
            if !found.is_some_and(|roles| roles.is(Flag::Leading)) {
                child.ignored = true;
                return child;
            }
        }
        let Some(roles) = found else {
            place.comment = None;
            return child;
        };
        if roles.is(Flag::Leading) {
            place.leading.get_or_insert(node.start_byte());
            child.ignored = true;
            return child;
        }
        self.scopes.truncate(place.scopes);
        let leading = self.take_leading(place, node, roles);
        self.record(node, roles, place, &mut child, leading);
        child.scopes = self.scopes.len();
        child
    }

    fn record(
        &mut self,
        node: &Node<'_>,
        roles: &NodeRoles,
        place: &Place,
        child: &mut Place,
        leading: Option<usize>,
    ) {
        let start = leading.unwrap_or(node.start_byte());
        let whole = place.wrapper.clone().unwrap_or(start..node.end_byte());
        if let Some(kind) = roles.statement()
            && place.wrapper.is_none()
        {
            child.statement = Some(self.statement(kind, roles, whole.clone(), place));
            child.expression = None;
        }
        if roles.is(Flag::Wrapper) {
            child.wrapper = Some(whole.clone());
        }
        if roles.is(Flag::Import) {
            self.import(node, roles);
        }
        if roles.is(Flag::Test) && place.test.is_none() {
            self.test(node, roles, whole.clone(), child);
        }
        let apart = self.lists.test_code.last().is_none_or(|last| last.end <= whole.start);
        if apart && (roles.is(Flag::Suite) || roles.is(Flag::Test)) {
            self.lists.test_code.push(whole.clone());
        }
        if roles.is(Flag::Assertion) {
            let assertion =
                Assertion { range: whole.clone(), statement: child.statement, test: place.test };
            self.lists.assertions.push(assertion);
        }
        if roles.is(Flag::Scope) && !roles.is(Flag::Function) {
            self.scopes.push(self.last_name_of(roles));
        }
        if roles.is(Flag::Function) {
            self.function(node, roles, whole, child);
        }
        if roles.is(Flag::Parameter) {
            self.parameter(node, roles, place);
        }
        if roles.is(Flag::Local) {
            self.local(node, place);
            if roles.is(Flag::Skip) {
                self.lists.declared.push(node.byte_range());
            }
        }
        if roles.is(Flag::Choice) {
            self.lists.choices.push(node.byte_range());
        }
        if roles.is(Flag::Branch)
            && let Some(function) = place.function
        {
            self.lists.functions[function].complexity += 1;
        }
        if let Some(kind) = roles.expression() {
            child.expression = Some(self.lists.expressions.len());
            if let Some(name) = roles.part(Part::Name).and_then(|name| self.utf8(name)) {
                self.lists.attribute_names.insert(name);
            }
            self.lists.expressions.push(Expression {
                kind,
                range: node.byte_range(),
                function: child.function,
                statement: child.statement,
                parent: place.expression.filter(|_| child.statement == place.statement),
                assigned: roles.is(Flag::Local),
                parts: roles.parts(),
            });
        }
        if roles.is(Flag::Block) {
            child.block = Some(self.block(node, child));
        }
        child.ignored = roles.is(Flag::Ignore);
    }

    fn statement(
        &mut self,
        kind: StatementKind,
        roles: &NodeRoles,
        range: Span,
        place: &Place,
    ) -> usize {
        let id = self.lists.statements.len();
        let mut index = 0;
        if let Some(block) = place.block {
            index = self.lists.blocks[block].statements.len();
            self.lists.blocks[block].statements.push(id);
        }
        if let Some(function) = place.function {
            let function = &mut self.lists.functions[function];
            function.statements += 1;
            let branches =
                matches!(kind, StatementKind::If | StatementKind::Loop | StatementKind::Try);
            function.complexity += usize::from(branches);
        }
        self.lists.statements.push(Statement {
            kind,
            range,
            block: place.block,
            index,
            siblings: 0,
            function: place.function,
            parent: place.statement,
            parts: roles.parts(),
        });
        id
    }

    fn block(&mut self, node: &Node<'_>, child: &Place) -> usize {
        let id = self.lists.blocks.len();
        let range = node.byte_range();
        // The outermost block comes first; some grammars put it inside the braces.
        if let Some(function) = child.function.map(|function| &mut self.lists.functions[function])
            && function.block.is_none()
            && function.body.start <= range.start
            && range.end <= function.body.end
        {
            function.block = Some(id);
        }
        self.lists.blocks.push(Block {
            range,
            statements: Vec::new(),
            owner: child.statement,
            function: child.function,
        });
        id
    }

    fn function(&mut self, node: &Node<'_>, roles: &NodeRoles, range: Span, child: &mut Place) {
        let name = self.name_of(roles);
        // A method outside its type names it.
        let qualifier = roles.part(Part::Object).and_then(|span| self.utf8(span));
        self.scopes.extend(qualifier);
        self.scopes.push(name.clone());
        let end = node.end_byte();
        let function = Function {
            name,
            qualified: self.scopes.join(self.separator),
            body: roles.part(Part::Body).cloned().unwrap_or(end..end),
            range,
            parameters: Vec::new(),
            returns: roles.part(Part::Type).and_then(|ty| self.utf8(ty)),
            locals: Vec::new(),
            parent: child.function,
            statement: child.statement,
            block: None,
            statements: 0,
            complexity: 1,
            line: 0,
        };
        child.function = Some(self.lists.functions.len());
        child.expression = None;
        self.lists.functions.push(function);
        self.locals.push(BTreeSet::new());
    }

    fn test(&mut self, node: &Node<'_>, roles: &NodeRoles, range: Span, child: &mut Place) {
        let name = self.last_name_of(roles);
        let mut path = self.scopes.clone();
        path.push(name.clone());
        let is_function = roles.is(Flag::Function) && node.is_named();
        child.test = Some(self.lists.tests.len());
        self.lists.tests.push(Test {
            name,
            qualified: path.join(self.separator),
            range,
            statement: child.statement,
            function: is_function.then_some(self.lists.functions.len()),
        });
    }

    fn parameter(&mut self, node: &Node<'_>, roles: &NodeRoles, place: &Place) {
        let Some(function) = place.function else { return };
        if node.start_byte() >= self.lists.functions[function].body.start {
            // A nameless function's, in the body.
            return self.nameless_parameter(node, roles, function);
        }
        let parts = roles.parts();
        let names: Vec<Span> = parts.all(Part::Name).cloned().collect();
        let own = [node.byte_range()];
        for span in if names.is_empty() { &own[..] } else { &names } {
            self.add_parameter(span, roles, function);
        }
    }

    fn nameless_parameter(&mut self, node: &Node<'_>, roles: &NodeRoles, function: usize) {
        let span = roles.part(Part::Name).cloned().unwrap_or(node.byte_range());
        if let Some(name) = self.utf8(&span) {
            self.locals[function].insert(name);
        }
    }

    fn add_parameter(&mut self, span: &Span, roles: &NodeRoles, function: usize) {
        let Some(name) = self.utf8(span) else { return };
        let ty = roles.part(Part::Type);
        let default = roles.part(Part::Default).map(|value| {
            let from = ty.map_or(span.end, |ty| ty.end.max(span.end));
            from.min(value.start)..value.end
        });
        let ty = ty.and_then(|ty| self.utf8(ty));
        let parameters = &mut self.lists.functions[function].parameters;
        if parameters.iter().all(|known| known.name != name) {
            parameters.push(Parameter { name, ty, default });
        }
    }

    fn local(&mut self, node: &Node<'_>, place: &Place) {
        let Some(name) = self.utf8(&node.byte_range()) else { return };
        match place.function {
            Some(function) => {
                self.locals[function].insert(name);
            }
            None => {
                self.lists.module_names.insert(name);
            }
        }
    }

    fn import(&mut self, node: &Node<'_>, roles: &NodeRoles) {
        let parts = roles.parts();
        let names: Vec<String> =
            parts.all(Part::Binding).filter_map(|span| self.utf8(span)).collect();
        let module = parts.get(Part::Module).and_then(|span| self.utf8(span)).unwrap_or_default();
        self.lists.module_names.extend(names.iter().cloned());
        self.lists.imports.push(Import { range: node.byte_range(), module, names });
    }

    fn comment(&mut self, node: &Node<'_>, place: &mut Place) {
        let end = trimmed_end(self.source, &node.byte_range());
        let span = node.start_byte()..end;
        if stands_alone(self.source, span.start) {
            let joins = place.comment.filter(|(_, old)| adjacent(self.source, *old, span.start));
            place.comment = Some((joins.map_or(span.start, |(start, _)| start), end));
        }
        self.lists.comments.push(span);
    }

    /// The start of the attributes, and for a definition of the comment lines, right above the node.
    fn take_leading(&self, place: &mut Place, node: &Node<'_>, roles: &NodeRoles) -> Option<usize> {
        let leading = place.leading.take();
        let comment = place.comment.take();
        let first = leading.unwrap_or(node.start_byte());
        let defines = roles.statement() == Some(StatementKind::Definition) || roles.is(Flag::Test);
        let comment = comment
            .filter(|(start, end)| {
                defines && (*start < first || adjacent(self.source, *end, first))
            })
            .filter(|(_, end)| adjacent(self.source, *end, node.start_byte()) || leading.is_some())
            .map(|(start, _)| start);
        match (leading, comment) {
            (Some(leading), Some(comment)) => Some(leading.min(comment)),
            (leading, comment) => leading.or(comment),
        }
    }

    fn name_of(&self, roles: &NodeRoles) -> String {
        self.unquoted(roles.parts().get(Part::Name))
    }

    /// A test or suite made by a call or macro has that one's name before its own.
    fn last_name_of(&self, roles: &NodeRoles) -> String {
        self.unquoted(roles.parts().all(Part::Name).last())
    }

    fn unquoted(&self, span: Option<&Span>) -> String {
        let name = span.map(|span| String::from_utf8_lossy(&self.source[span.clone()]));
        name.unwrap_or_default().trim_matches(['"', '\'', '`']).to_owned()
    }

    fn utf8(&self, span: &Span) -> Option<String> {
        std::str::from_utf8(&self.source[span.clone()]).ok().map(str::to_owned)
    }

    fn finish(mut self) -> Lists {
        for block in &self.lists.blocks {
            for statement in &block.statements {
                self.lists.statements[*statement].siblings = block.statements.len();
            }
        }
        for (function, locals) in self.lists.functions.iter_mut().zip(self.locals) {
            let known = |name: &String| function.parameters.iter().any(|p| p.name == *name);
            function.locals = locals.into_iter().filter(|name| !known(name)).collect();
            if function.parent.is_none() {
                self.lists.module_names.insert(function.name.clone());
            }
        }
        self.lists
    }
}

/// Some grammars count a line comment's newline to it.
fn trimmed_end(source: &[u8], span: &Span) -> usize {
    span.start + source[span.clone()].trim_ascii_end().len()
}

/// Only blanks are before `offset` on its line.
fn stands_alone(source: &[u8], offset: usize) -> bool {
    let before = source[..offset].iter().rev().take_while(|byte| **byte != b'\n');
    before.copied().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Nothing but blanks and at most one newline is between.
fn adjacent(source: &[u8], end: usize, start: usize) -> bool {
    source.get(end..start).is_some_and(|gap| {
        gap.iter().all(u8::is_ascii_whitespace) && crate::text::lines(gap).count() <= 2
    })
}
