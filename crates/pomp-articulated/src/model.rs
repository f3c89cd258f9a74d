use glam::{DMat3, DVec3};
use thiserror::Error;

/// A rigid link and the joint that hangs it on its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Index of the parent, which comes before the link; `None` for the root alone.
    pub parent: Option<usize>,
    /// The joint in the parent's frame, metres. Not used for the root.
    pub offset: DVec3,
    /// Mass, kg.
    pub mass_kg: f64,
    /// Centre of mass in the link's frame, whose origin is its joint, metres.
    pub center: DVec3,
    /// Inertia about the centre of mass in the link's frame, kg·m².
    pub inertia: DMat3,
}

/// Why links make no [`Model`].
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ModelError {
    /// No link.
    #[error("a model needs at least one link")]
    NoLinks,
    /// The first link has a parent, or a later one has none or one that comes after it.
    #[error(
        "link {link} has the parent {parent:?}; the first link has none, the others one that comes before them"
    )]
    BadParent {
        /// Index of the link.
        link: usize,
        /// Its parent.
        parent: Option<usize>,
    },
    /// A mass or inertia that no body has, or a number that is not finite.
    #[error("link {link}: {what}")]
    BadLink {
        /// Index of the link.
        link: usize,
        /// What is wrong.
        what: &'static str,
    },
}

/// A tree of links: a floating root with six degrees of freedom, every other link on a ball joint.
///
/// Generalised velocities and forces come in blocks of three, in world axes: block 0 is the linear velocity of the root's
/// origin (or the force on it), block 1 + i the angular velocity of link i relative to its parent (or the torque of joint i,
/// on link i and against its parent; for the root, the torque from outside about its origin).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    links: Vec<Link>,
    mass_kg: f64,
    /// Where the ancestors of each block begin in `ancestors`; one more at the end.
    starts: Vec<usize>,
    /// Ancestors of all blocks, each block's from the nearest to block 0.
    ancestors: Vec<usize>,
}

impl Model {
    /// Checks the links.
    ///
    /// # Errors
    /// [`ModelError`] with the first link that cannot be.
    pub fn new(links: Vec<Link>) -> Result<Self, ModelError> {
        if links.is_empty() {
            return Err(ModelError::NoLinks);
        }
        for (i, link) in links.iter().enumerate() {
            if link.parent.is_none() != (i == 0) || link.parent.is_some_and(|parent| parent >= i) {
                return Err(ModelError::BadParent { link: i, parent: link.parent });
            }
            let bad = |what| Err(ModelError::BadLink { link: i, what });
            if !(link.mass_kg > 0.0 && link.mass_kg.is_finite()) {
                return bad("its mass is not positive");
            }
            if !(link.offset.is_finite() && link.center.is_finite() && link.inertia.is_finite()) {
                return bad("its offset, centre or inertia is not finite");
            }
            let m = link.inertia;
            let minor = m.x_axis.x * m.y_axis.y - m.x_axis.y * m.y_axis.x;
            let asymmetry = (m - m.transpose()).to_cols_array().iter().fold(0.0f64, |a, b| a.max(b.abs()));
            if asymmetry > 1e-9 * m.x_axis.x.abs()
                || !(m.x_axis.x > 0.0 && minor > 0.0 && m.determinant() > 0.0)
            {
                return bad("its inertia is not symmetric and positive");
            }
        }
        let (mut starts, mut ancestors) = (vec![0, 0], vec![]);
        for i in 0..links.len() {
            let mut link = Some(i);
            while let Some(parent) = link.and_then(|link| links[link].parent) {
                ancestors.push(1 + parent);
                link = Some(parent);
            }
            ancestors.push(0);
            starts.push(ancestors.len());
        }
        Ok(Self { mass_kg: links.iter().map(|link| link.mass_kg).sum(), links, starts, ancestors })
    }

    /// The links; a parent comes before its children.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Mass of all links, kg.
    pub fn mass_kg(&self) -> f64 {
        self.mass_kg
    }

    /// Number of blocks of three degrees of freedom: one more than links.
    pub fn blocks(&self) -> usize {
        self.links.len() + 1
    }

    /// The blocks that move block `block`'s link besides itself, from the nearest to block 0.
    pub fn ancestors(&self, block: usize) -> &[usize] {
        &self.ancestors[self.starts[block]..self.starts[block + 1]]
    }

    /// Where the ancestors of a block begin in a table with one entry for each ancestor of each block.
    pub(crate) fn start(&self, block: usize) -> usize {
        self.starts[block]
    }

    /// Number of entries of such a table.
    pub(crate) fn entries(&self) -> usize {
        self.ancestors.len()
    }
}
