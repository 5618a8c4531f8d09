//! NumPy arrays as memory for batches: made here or given by the caller, and borrowed while a step runs.

#![expect(
    unsafe_code,
    reason = "the memory of arrays is borrowed while the interpreter is released"
)]

use numpy::{Element, PyArray, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An array that a batch writes.
pub(crate) struct Array<T: Element> {
    array: Py<PyArrayDyn<T>>,
    /// A second reference to the array.
    _second: Option<Py<PyArrayDyn<T>>>,
    len: usize,
}

impl<T: Element + Copy> Array<T> {
    /// A new array of zeros.
    pub(crate) fn new(py: Python<'_>, shape: &[usize]) -> Array<T> {
        let array = PyArray::<T, _>::zeros(py, shape.to_vec(), false);
        Array {
            array: array.unbind(),
            _second: None,
            len: shape.iter().product(),
        }
    }

    /// A new array of zeros that cannot be resized, because it is a view of another one.
    fn fixed(py: Python<'_>, shape: &[usize]) -> PyResult<Array<T>> {
        let array = Array::new(py, shape);
        let view = array.array.bind(py).call_method0("view")?;
        Ok(Array {
            array: view.cast_into::<PyArrayDyn<T>>()?.unbind(),
            ..array
        })
    }

    /// A new array of zeros that Python programs can only read.
    pub(crate) fn read_only(py: Python<'_>, shape: &[usize]) -> PyResult<Array<T>> {
        let array = Array::fixed(py, shape)?;
        let flags = PyDict::new(py);
        flags.set_item("write", false)?;
        array
            .array
            .bind(py)
            .call_method("setflags", (), Some(&flags))?;
        Ok(array)
    }

    /// The array that the caller gives under this name, or a new one.
    pub(crate) fn given_or_new(
        py: Python<'_>,
        given: Option<&Bound<'_, PyDict>>,
        name: &str,
        shape: &[usize],
    ) -> PyResult<Array<T>> {
        let given = given
            .map(|given| given.get_item(name))
            .transpose()?
            .flatten();
        let Some(given) = given else {
            return Array::fixed(py, shape);
        };
        let dtype = T::get_dtype(py);
        let wrong = |what: String| {
            PyTypeError::new_err(format!(
                "the array `{name}` must be a {dtype} array: {what}"
            ))
        };
        let array = given.cast::<PyArrayDyn<T>>().map_err(|_| {
            wrong(match given.getattr("dtype") {
                Ok(other) => format!("it has {other}"),
                Err(_) => "it is no NumPy array".to_owned(),
            })
        })?;
        if array.shape() != shape {
            return Err(PyValueError::new_err(format!(
                "the array `{name}` must have the shape {shape:?}: it has {:?}",
                array.shape()
            )));
        }
        let is_writeable: bool = array.getattr("flags")?.getattr("writeable")?.extract()?;
        let is_aligned: bool = array.getattr("flags")?.getattr("aligned")?.extract()?;
        if !array.is_c_contiguous() || !is_writeable || !is_aligned {
            return Err(PyValueError::new_err(format!(
                "the array `{name}` must be contiguous (order C), aligned and writeable"
            )));
        }
        Ok(Array {
            array: array.clone().unbind(),
            _second: Some(array.clone().unbind()),
            len: shape.iter().product(),
        })
    }

    /// The array itself.
    pub(crate) fn python(&self, py: Python<'_>) -> Py<PyArrayDyn<T>> {
        self.array.clone_ref(py)
    }

    /// Whether both are the same memory.
    pub(crate) fn address(&self, py: Python<'_>) -> (usize, usize) {
        let start = self.array.bind(py).data() as usize;
        (start, start + self.len * size_of::<T>())
    }

    /// The memory of the array.
    ///
    /// The array is a view, or there are two references to it here, so that the memory stays: NumPy resizes neither. A
    /// lock of the batch keeps all other borrowers of this crate away. What Python programs write meanwhile
    /// are plain numbers, and none of them is used as an index here.
    pub(crate) fn memory<'a>(&'a mut self, py: Python<'_>) -> PyResult<&'a mut [T]> {
        let array = self.array.bind(py);
        if array.len() != self.len || !array.is_c_contiguous() {
            return Err(PyValueError::new_err(
                "an array of the batch was changed in shape or layout",
            ));
        }
        // SAFETY: see above; the array has this number of elements, without gaps.
        Ok(unsafe { std::slice::from_raw_parts_mut(array.data(), self.len) })
    }
}

/// A copy of a one-dimensional list as an array.
pub(crate) fn from_slice<T: Element + Copy>(
    py: Python<'_>,
    values: &[T],
    shape: &[usize],
) -> PyResult<Py<PyArrayDyn<T>>> {
    let mut array = Array::new(py, shape);
    array.memory(py)?.copy_from_slice(values);
    Ok(array.array)
}

/// Signed bytes as bytes.
pub(crate) fn bytes(from: &mut [i8]) -> &mut [u8] {
    // SAFETY: both have one byte, and every byte is valid as either.
    unsafe { std::slice::from_raw_parts_mut(from.as_mut_ptr().cast(), from.len()) }
}
